import CisternCore
import CisternTesting
import CisternTestSupport
import Locking
import Testing

/// No read returns a value that is older than its caller accepts, from either tier and under every schedule. The
/// schedules interleave loads, sets, lookups, evictions, failures, restarts and moves of the clock.
struct AgesTests {
  private static let keys = ["a", "b"]
  /// Longer than every grace period, in seconds.
  private static let allGrace = 1_000
  private static let expiry = Expiry.after(.seconds(10), graceStale: .seconds(20))

  /// The lifetime of each value: when it becomes stale, and when its grace ends.
  private final class Lives: Sendable {
    struct Life: Sendable {
      var freshUntil: UInt64
      var goneFrom: UInt64
    }

    private struct State {
      var lives: [Int: Life] = [:]
      var findings: [String] = []
    }

    private let clock: ManualClock
    private let state = Guarded(State())

    init(clock: ManualClock) {
      self.clock = clock
    }

    var now: UInt64 { clock.now().nanoseconds }
    var findings: [String] { state.withLock { $0.findings } }

    /// Records a new value whose lifetime begins now, and returns it.
    func newValue(freshFor seconds: Int = 10, graceFor grace: Int = 20) -> Int {
      let now = now
      return state.withLock { state in
        let value = state.lives.count + 1
        let freshUntil = now + UInt64(seconds) * 1_000_000_000
        state.lives[value] = Life(freshUntil: freshUntil, goneFrom: freshUntil + UInt64(grace) * 1_000_000_000)
        return value
      }
    }

    /// Records a finding if `value`, returned to a call that began at `asked`, was staler than that call accepts.
    func check(_ value: Int?, staleUpTo seconds: Int?, askedAt asked: UInt64, by call: String) {
      guard let value else { return }
      state.withLock { state in
        guard let life = state.lives[value] else {
          state.findings.append("\(call): \(value) was never written")
          return
        }
        if asked < life.freshUntil { return }
        let age = asked - life.freshUntil
        if let seconds, age <= UInt64(seconds) * 1_000_000_000, asked < life.goneFrom { return }
        state.findings.append("\(call): \(value) is returned after it was stale for \(age) ns")
      }
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `no read at any instant returns a value that is staler than the caller accepts, from either tier`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 400) { executor in
      var generator = SeededGenerator(seed: executor.seed)
      // Memory with room for all values, for two, and for none.
      let memoryLimit = [1_000, 16, 7][generator.next(below: 3)]
      var subject = try Subject(kind, on: executor, expiry: Self.expiry, memoryLimit: memoryLimit)
      let lives = Lives(clock: subject.clock)
      for round in 0..<3 {
        let users = (0..<3).map { [subject] index in
          Task(executorPreference: executor) {
            var generator = SeededGenerator(seed: (executor.seed &* 3 &+ UInt64(round)) &* 4 &+ UInt64(index))
            for _ in 0..<6 {
              await Self.operate(on: subject, lives, &generator)
              await pause(&generator, atMost: 3)
            }
          }
        }
        for _ in 0..<6 {
          await pause(&generator, atMost: 5)
          subject.clock.advance(by: .seconds(generator.next(below: 7)))
        }
        for user in users { await user.value }
        while subject.inProgressCount > 0 { await Task.yield() }
        try #require(lives.findings == [])
        try #require(subject.findings == [])
        guard let tier = subject.tier else { continue }
        // The clock of the next process may be ahead, but not behind.
        subject.clock.moveWallTime(by: .seconds(generator.next(below: 4)))
        subject = try Subject(
          kind, on: executor, expiry: Self.expiry, memoryLimit: memoryLimit,
          tier: generator.next(below: 2) == 0 ? tier.reopenedAfterCrash() : tier, clock: subject.clock)
      }
    }
  }

  private static func operate(on subject: Subject, _ lives: Lives, _ generator: inout SeededGenerator) async {
    let cache = subject.cache
    let key = keys[generator.next(below: keys.count)]
    let asked = lives.now
    let fetch: Subject.Fetch = { [fails = generator.next(below: 4) == 0] _ in
      for _ in 0..<3 { await Task.yield() }
      if fails { throw Broken() }
      return lives.newValue()
    }
    switch generator.next(below: 14) {
    case 0: cache[key] = lives.newValue()
    case 1:
      let (lifetime, grace) = (1 + generator.next(below: 9), generator.next(below: 9))
      cache.setValue(
        lives.newValue(freshFor: lifetime, graceFor: grace), forKey: key,
        expiry: .after(.seconds(lifetime), graceStale: .seconds(grace)))
    case 2: cache.removeValue(forKey: key)
    case 3: cache.trim(toCost: generator.next(below: 2) * 8)
    case 4: subject.tier?.commit(1 + generator.next(below: 4))
    case 5:
      let isThere = cache.contains(key)
      let value = cache[key]
      lives.check(value, staleUpTo: nil, askedAt: asked, by: "lookup")
      lives.check(isThere == (value != nil) ? nil : -1, staleUpTo: nil, askedAt: asked, by: "contains")
    case 6, 7:
      let seconds = generator.next(below: 30)
      let value = cache.value(forKey: key, staleUpTo: .seconds(seconds))
      lives.check(value, staleUpTo: seconds, askedAt: asked, by: "lookup that accepts stale values")
    case 8:
      let value = try? await subject.value(key, policy: .freshOnly, fetch: fetch)
      lives.check(value, staleUpTo: nil, askedAt: asked, by: "fresh load")
    case 9:
      let value = try? await subject.value(key, policy: .cachedOnly, fetch: fetch)
      lives.check(value, staleUpTo: allGrace, askedAt: asked, by: "load from the cache alone")
    case 10:
      let seconds = generator.next(below: 30)
      let value = try? await subject.value(key, policy: .staleAcceptable(upTo: .seconds(seconds)), fetch: fetch)
      lives.check(value, staleUpTo: seconds, askedAt: asked, by: "load that accepts stale values")
    case 11:
      let value = try? await subject.value(key, policy: .freshElseStale, fetch: fetch)
      lives.check(value, staleUpTo: allGrace, askedAt: asked, by: "load that falls back on a stale value")
    case 12:
      let loaded = try? await cache.values(forKeys: keys) { missing in
        _ = try await fetch("")
        // The lifetime of every value of a bulk load begins when the load publishes them, at the end.
        return Dictionary(uniqueKeysWithValues: missing.map { ($0, lives.newValue()) })
      }
      for value in (loaded?.values ?? [:]).values {
        lives.check(value, staleUpTo: allGrace, askedAt: asked, by: "bulk load")
      }
    default:
      let value = try? await subject.value(key, fetch: fetch)
      lives.check(value, staleUpTo: allGrace, askedAt: asked, by: "load")
    }
  }
}
