import Locking

/// The record of the running fetches. It detects two concurrent fetches of one key that the cache must not make.
///
/// A second fetch of a key may begin while the first one runs in only two cases:
///
/// - The entry was removed or replaced since the call of the first leader. One of the two fetches then no longer
///   belongs to the entry.
/// - All waiters of the first fetch have left. The fetch is then cancelled, and may still be ending.
final class FetchLedger: Sendable {
  /// A fetch that is running.
  struct Fetch: Sendable {
    let key: Int
    /// The time of the leader's call. `start` is the time at which the fetch began.
    let call: UInt64
    let start: UInt64
    fileprivate let number: UInt64
  }

  private struct Running {
    let number: UInt64
    let call: UInt64
    let start: UInt64
    var collisions: [UInt64] = []
  }

  /// Two concurrent fetches that only the cancellation of one of them can excuse.
  ///
  /// It is unknown which of the two lost its entry: flights can start in another order than that of their leaders'
  /// calls.
  private struct Collision {
    /// The time between the starts of the fetches in nanoseconds.
    let distance: UInt64
    var hasOneEnded = false
    var isExcused = false
  }

  private struct State {
    var running: [Int: [Running]] = [:]
    var collisions: [UInt64: Collision] = [:]
    var lastNumber: UInt64 = 0

    mutating func nextNumber() -> UInt64 {
      lastNumber += 1
      return lastNumber
    }

    /// Records the end of one of the two fetches. Returns the distance if both have ended, and neither was
    /// cancelled.
    mutating func end(_ number: UInt64, isExcused: Bool) -> UInt64? {
      guard var collision = collisions.removeValue(forKey: number) else { return nil }
      collision.isExcused = collision.isExcused || isExcused
      if collision.hasOneEnded { return collision.isExcused ? nil : collision.distance }
      collision.hasOneEnded = true
      collisions[number] = collision
      return nil
    }
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

  /// Runs a fetch of `key` whose leader called at `call`.
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

  /// The number of running fetches.
  var count: Int {
    shards.reduce(0) { sum, shard in sum + shard.state.withLock { $0.running.values.reduce(0) { $0 + $1.count } } }
  }

  private func begin(_ key: Int, calledAt call: UInt64) -> Fetch {
    let start = Ticks.now()
    return shard(of: key).state.withLock { state in
      var new = Running(number: state.nextNumber(), call: call, start: start)
      for index in (state.running[key] ?? []).indices {
        let other = state.running[key]![index]
        if register.wasWritten(key, since: min(other.call, call)) { continue }
        let collision = state.nextNumber()
        state.collisions[collision] = Collision(distance: max(other.start, start) - min(other.start, start))
        state.running[key]![index].collisions.append(collision)
        new.collisions.append(collision)
      }
      state.running[key, default: []].append(new)
      return Fetch(key: key, call: call, start: start, number: new.number)
    }
  }

  private func end(_ fetch: Fetch, name: String, _ outcome: String) async {
    let collisions = shard(of: fetch.key).state.withLock { state -> [UInt64] in
      guard let index = state.running[fetch.key]?.firstIndex(where: { $0.number == fetch.number }) else { return [] }
      let ended = state.running[fetch.key]!.remove(at: index)
      if state.running[fetch.key]!.isEmpty { state.running[fetch.key] = nil }
      return ended.collisions
    }
    let end = Ticks.now()
    guard !collisions.isEmpty else { return }
    let isExcused = await cancellationArrives(collisions, of: fetch.key)
    for collision in collisions {
      let distance = shard(of: fetch.key).state.withLock { $0.end(collision, isExcused: isExcused) }
      guard let distance else { continue }
      violations.report(
        .fetchedTwice,
        "\(name): two fetches began \(distance) ns apart and ran concurrently, but nothing had removed the entry; "
          + "one began \(fetch.start - fetch.call) ns after its load, ran for \(end - fetch.start) ns, and ended with \(outcome)"
      )
    }
  }

  /// Waits for the fetch's cancellation, and returns whether it arrives.
  ///
  /// The entry is removed before the cancellation is delivered, and the delivering thread may have to wait for a
  /// processor. A cancellation ends each sleep immediately. The method does not wait if the other fetch of each
  /// collision was cancelled.
  private func cancellationArrives(_ collisions: [UInt64], of key: Int) async -> Bool {
    for _ in 0..<200 {
      let isOpen = shard(of: key).state.withLock { state in
        collisions.contains { state.collisions[$0].map { !$0.isExcused } ?? false }
      }
      guard isOpen else { break }
      do { try await Task.sleep(for: .milliseconds(10)) } catch { return true }
    }
    return Task.isCancelled
  }

  private func shard(of key: Int) -> Shard {
    shards[key % FetchLedger.shardCount]
  }
}
