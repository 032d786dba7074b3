import Locking

/// Knows which fetches are running, and finds two of one key that should not be.
///
/// A second fetch of a key may start while the first still runs in two cases only: something removed or replaced the
/// entry since the first of them was asked for, so that one of them is no longer the entry's; or every caller of the first has gone, so
/// that it was cancelled and is on its way out.
final class FetchLedger: Sendable {
  /// A fetch that is running.
  struct Fetch: Sendable {
    let key: Int
    /// When its leader called, and when it began itself.
    let call: UInt64
    let start: UInt64
    fileprivate let number: UInt64
  }

  private struct Running {
    let number: UInt64
    let call: UInt64
    /// When a second fetch began meanwhile that nothing but a cancellation can excuse.
    var overtaken: UInt64?
  }

  private struct State {
    var running: [Int: [Running]] = [:]
    var lastNumber: UInt64 = 0
  }

  private static let shardCount = 16

  private final class Shard: Sendable {
    let state = Guarded(State())
  }

  private let shards = (0..<shardCount).map { _ in Shard() }
  private let register: VersionRegister
  private let violations: ViolationLog

  init(register: VersionRegister, violations: ViolationLog) {
    self.register = register
    self.violations = violations
  }

  /// Runs a fetch of `key`, which was led by a call at `call`.
  func fetch<Result: Sendable>(
    _ key: Int, name: String, calledAt call: UInt64, _ body: (Fetch) async throws -> Result
  ) async throws -> Result {
    let fetch = begin(key, calledAt: call)
    do {
      let result = try await body(fetch)
      await end(fetch, name: name, "a value")
      return result
    } catch {
      await end(fetch, name: name, "\(error)")
      throw error
    }
  }

  /// How many fetches are running.
  var count: Int {
    shards.reduce(0) { sum, shard in sum + shard.state.withLock { $0.running.values.reduce(0) { $0 + $1.count } } }
  }

  private func begin(_ key: Int, calledAt call: UInt64) -> Fetch {
    let start = Ticks.now()
    return shard(of: key).state.withLock { state in
      for index in (state.running[key] ?? []).indices {
        // Flights may start in another order than they were led in: this one may be the one that lost its entry.
        let earlier = min(state.running[key]![index].call, call)
        if !register.wasWritten(key, since: earlier) { state.running[key]![index].overtaken = start }
      }
      state.lastNumber += 1
      state.running[key, default: []].append(Running(number: state.lastNumber, call: call))
      return Fetch(key: key, call: call, start: start, number: state.lastNumber)
    }
  }

  private func end(_ fetch: Fetch, name: String, _ outcome: String) async {
    let overtaken: UInt64? = shard(of: fetch.key).state.withLock { state in
      guard let index = state.running[fetch.key]?.firstIndex(where: { $0.number == fetch.number }) else { return nil }
      let overtaken = state.running[fetch.key]![index].overtaken
      state.running[fetch.key]!.remove(at: index)
      if state.running[fetch.key]!.isEmpty { state.running[fetch.key] = nil }
      return overtaken
    }
    let end = Ticks.now()
    guard let overtaken, await !cancellationArrives() else { return }
    violations.report(
      .fetchedTwice,
      "\(name): a second fetch began \(overtaken - fetch.start) ns into one that ran for \(end - fetch.start) ns, "
        + "was asked for \(fetch.start - fetch.call) ns before, and ended with \(outcome); nothing had removed the entry"
    )
  }

  /// Whether the flight is cancelled, now or in a moment: its entry is gone before the cancellation is delivered, and
  /// the thread that delivers it may have to wait for a processor. A cancellation ends each sleep at once.
  private func cancellationArrives() async -> Bool {
    for _ in 0..<200 {
      do { try await Task.sleep(for: .milliseconds(10)) } catch { return true }
    }
    return Task.isCancelled
  }

  private func shard(of key: Int) -> Shard {
    shards[key % FetchLedger.shardCount]
  }
}
