import Locking

/// Counts the fetches of one key that ran at the same time, although neither was cancelled.
final class OverlapLedger: Sendable {
  private struct State {
    var lastNumber = 0
    /// The fetches of each key that run.
    var running: [String: Set<Int>] = [:]
    /// The pairs of fetches that ran at the same time.
    var pairs: [(Int, Int)] = []
    var cancelled: Set<Int> = []

    /// Returns whether a pair with this fetch has no cancelled member.
    func isSuspect(_ number: Int) -> Bool {
      pairs.contains { ($0.0 == number || $0.1 == number) && !cancelled.contains($0.0) && !cancelled.contains($0.1) }
    }
  }

  private let state = Guarded(State())
  /// The number of yields after which a fetch no longer waits for a cancellation.
  private let patience: Int

  init(patience: Int = 100_000) { self.patience = patience }

  /// The number of pairs of which neither fetch was cancelled.
  var overlaps: Int {
    state.withLock { state in
      state.pairs.count { !state.cancelled.contains($0.0) && !state.cancelled.contains($0.1) }
    }
  }

  var runningCount: Int { state.withLock { $0.running.values.reduce(0) { $0 + $1.count } } }

  /// Runs a fetch of these keys that yields some times, and throws when it is cancelled.
  func fetch(_ keys: [String], yields: Int) async throws {
    let number = state.withLock { state in
      state.lastNumber += 1
      for key in keys {
        for other in state.running[key, default: []] { state.pairs.append((other, state.lastNumber)) }
        state.running[key, default: []].insert(state.lastNumber)
      }
      return state.lastNumber
    }
    for _ in 0..<yields where !Task.isCancelled { await Task.yield() }
    // An entry is removed before the cancellation of its fetch arrives.
    var patience = patience
    while !Task.isCancelled, patience > 0, state.withLock({ $0.isSuspect(number) }) {
      patience -= 1
      await Task.yield()
    }
    let isCancelled = Task.isCancelled
    state.withLock { state in
      if isCancelled { state.cancelled.insert(number) }
      for key in keys { state.running[key]?.remove(number) }
    }
    try Task.checkCancellation()
  }
}
