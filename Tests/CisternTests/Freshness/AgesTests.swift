import Cistern
import CisternTesting
import Locking
import Testing

/// Nobody is shown a value that is older than what he accepts, under every schedule: however loads, sets, look-ups,
/// evictions, failures, restarts and the clock interleave, and from whichever tier it comes.
struct AgesTests {
  private static let keys = ["a", "b"]
  /// More than any grace, in seconds.
  private static let allGrace = 1_000
  private static let expiry = Expiry.after(.seconds(10), graceStale: .seconds(20))

  /// When each value began to be, and for how long it may be shown.
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

    /// A new value, which begins now.
    func newValue(freshFor seconds: Int = 10, graceFor grace: Int = 20) -> Int {
      let now = now
      return state.withLock { state in
        let value = state.lives.count + 1
        let freshUntil = now + UInt64(seconds) * 1_000_000_000
        state.lives[value] = Life(freshUntil: freshUntil, goneFrom: freshUntil + UInt64(grace) * 1_000_000_000)
        return value
      }
    }

    /// A value that was shown to somebody who asked then, and accepts one that has been stale for so long.
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
        state.findings.append("\(call): \(value) is shown when it has been stale for \(age) ns")
      }
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `at every instant nobody is shown what is staler than he accepts, whichever tier it comes from`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 400) { executor in
      var generator = SeededGenerator(seed: executor.seed)
      // All the room, a little, and none in memory.
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
        // The clock of the next process may be ahead, not behind.
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
      lives.check(value, staleUpTo: nil, askedAt: asked, by: "look-up")
      lives.check(isThere == (value != nil) ? nil : -1, staleUpTo: nil, askedAt: asked, by: "contains")
    case 6, 7:
      let seconds = generator.next(below: 30)
      let value = cache.value(forKey: key, staleUpTo: .seconds(seconds))
      lives.check(value, staleUpTo: seconds, askedAt: asked, by: "look-up of what is stale")
    case 8:
      let value = try? await subject.value(key, policy: .freshOnly, fetch: fetch)
      lives.check(value, staleUpTo: nil, askedAt: asked, by: "fresh load")
    case 9:
      let value = try? await subject.value(key, policy: .cachedOnly, fetch: fetch)
      lives.check(value, staleUpTo: allGrace, askedAt: asked, by: "load of what is cached")
    case 10:
      let seconds = generator.next(below: 30)
      let value = try? await subject.value(key, policy: .staleAcceptable(upTo: .seconds(seconds)), fetch: fetch)
      lives.check(value, staleUpTo: seconds, askedAt: asked, by: "load of what is stale")
    case 11:
      let value = try? await subject.value(key, policy: .freshElseStale, fetch: fetch)
      lives.check(value, staleUpTo: allGrace, askedAt: asked, by: "load, or what is stale")
    case 12:
      let loaded = try? await cache.values(forKeys: keys) { missing in
        _ = try await fetch("")
        // A life begins when its value is published: all at the end.
        return Dictionary(uniqueKeysWithValues: missing.map { ($0, lives.newValue()) })
      }
      for value in (loaded?.values ?? [:]).values {
        lives.check(value, staleUpTo: allGrace, askedAt: asked, by: "load of several")
      }
    default:
      let value = try? await subject.value(key, fetch: fetch)
      lives.check(value, staleUpTo: allGrace, askedAt: asked, by: "load")
    }
  }
}
