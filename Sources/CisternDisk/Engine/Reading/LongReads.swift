import Locking

/// The long reads of an engine.
final class LongReads: Sendable {
  private struct State {
    var running: [ObjectIdentifier: LongRead] = [:]
    var isClosed = false
  }

  private let state = Guarded(State())

  /// Runs `body`, during which ``interrupt(_:)`` reaches the read.
  func run<Result>(_ read: LongRead, _ body: (LongRead) throws -> Result) rethrows -> Result {
    let isClosed = state.withLock { state in
      state.running[ObjectIdentifier(read)] = read
      return state.isClosed
    }
    defer { state.withLock { $0.running[ObjectIdentifier(read)] = nil } }
    if isClosed { read.interrupt(.closed) }
    return try body(read)
  }

  /// Asks all running reads to end. After ``LongRead/Interruption/closed``, also all later ones.
  func interrupt(_ interruption: LongRead.Interruption) {
    let reads = state.withLock { state in
      if case .closed = interruption { state.isClosed = true }
      return Array(state.running.values)
    }
    for read in reads { read.interrupt(interruption) }
  }
}
