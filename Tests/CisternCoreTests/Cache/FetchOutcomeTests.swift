import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// Loads whose fetch receives a context and returns an outcome: each outcome in both tiers, for observers and for
/// callers that joined.
struct FetchOutcomeTests {
  private static let minute = Expiry.after(.seconds(60), graceStale: .seconds(600))

  /// Starts a load whose fetch passes the gate and returns an outcome, and then a load that joins it.
  private static func ledAndJoined(
    _ subject: Subject, _ policy: LoadPolicy, through gate: Gate, _ outcome: @escaping @Sendable () -> FetchOutcome<Int>
  ) async -> (led: Task<Loaded<Int>?, any Error>, joined: Task<Int, any Error>) {
    let led = Task(executorPreference: subject.executor) {
      try await subject.cache.load("a", policy: policy) { _ in
        try await gate.pass()
        return outcome()
      }
    }
    await gate.arrivals(atLeast: 1)
    return (led, subject.load("a", policy: policy) { _ in 99 })
  }

  @Test(arguments: SubjectKind.caches)
  func `the fetch gets the stale value, and a kept value has a new lifetime in both tiers`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.minute)
      let cache = subject.cache
      let changes = Recorder<Change<String, Int>>()
      let token = cache.observe { changes.record($0) }
      defer { token.cancel() }
      cache.setValue(7, forKey: "a", tags: ["news"])
      subject.clock.advance(by: .seconds(90))
      if executor.seed % 2 == 0 { cache.trim(toCost: kind == .memory ? 1_000_000 : 0) }
      let loaded = try await cache.load("a", policy: .freshOnly) { context in
        let stored = context.stored
        try #require(context.key == "a" && context.attempt == 1 && context.isStorable)
        try #require(stored?.value == 7 && stored?.isStale == true && stored?.tags == ["news"])
        try #require(stored?.age == .seconds(90) && stored?.remainingLifetime == .seconds(-30))
        return .keepStored(expiry: .after(.seconds(20), graceStale: .seconds(5)))
      }
      try #require(loaded?.value == 7 && loaded?.source == .fetched && loaded?.isStale == false)
      try #require(loaded?.age == .zero && loaded?.remainingLifetime == .seconds(20) && loaded?.tags == ["news"])
      subject.clock.advance(by: .seconds(19))
      for _ in 0..<2 {
        let found = cache.find("a")
        try #require(found?.value == 7 && found?.age == .seconds(19) && found?.remainingLifetime == .seconds(1))
        try #require(found?.tags == ["news"])
        if kind != .memory { cache.trim(toCost: 0) }
      }
      subject.clock.advance(by: .seconds(7))
      try #require(cache.find("a") == nil)
      while changes.elements.count < 2 { await Task.yield() }
      // A kept value is no change.
      try #require(changes.elements.map(\.kind) == ["inserted 7", "removed expired"])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, [true, false])
  func `a returned value that is not stored leaves the older one, or removes it`(
    kind: SubjectKind, removes: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.minute)
      let cache = subject.cache
      cache["a"] = 7
      subject.clock.advance(by: .seconds(61))
      let gate = Gate()
      let (led, joined) = await Self.ledAndJoined(subject, .freshOnly, through: gate) {
        removes ? .returnAndRemove(8) : .returnOnly(8)
      }
      while cache.statistics.joins == 0 { await Task.yield() }
      gate.open()
      try #require(try await led.value?.value == 8)
      try #require(try await joined.value == 8)
      for _ in 0..<2 {
        let found = cache.find("a")
        try #require(removes ? found == nil : (found?.value == 7 && found?.isStale == true))
        if kind != .memory { cache.trim(toCost: 0) }
      }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `an absent key is removed, is no fallback, and throws for callers that need a value`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.minute)
      let cache = subject.cache
      cache["a"] = 7
      subject.clock.advance(by: .seconds(61))
      let gate = Gate()
      let (led, joined) = await Self.ledAndJoined(subject, .freshElseStale, through: gate) { .absent() }
      let bulk = Task(executorPreference: executor) {
        try await cache.values(forKeys: ["a"], policy: .freshElseStale) { _ in [:] }
      }
      while cache.statistics.joins < 2 { await Task.yield() }
      gate.open()
      try #require(try await led.value == nil)
      let error = await #expect(throws: CisternError.self) { try await joined.value }
      try #require(error?.code == .noValue)
      let values = try await bulk.value
      try #require(values.missing == ["a"] && values.failures.isEmpty)
      try #require(cache.find("a") == nil && !cache.contains("a"))
      if kind != .memory { cache.trim(toCost: 0) }
      try #require(cache.find("a") == nil)
      try #require(cache.statistics.failures == 0)
      try #require(subject.findings == [])
    }
  }

  @Test func `a cache of optional values stores the absence with its own lifetime`() async throws {
    let clock = ManualClock()
    var store: Store.Configuration = .ignoringMemoryPressure
    store.clock = clock
    var configuration = CacheConfiguration<Int?>()
    configuration.absenceExpiry = .after(.seconds(5))
    let cache = try Cache<String, Int?>(settings: configuration, expiry: .after(.seconds(60)), configuration: store)
    let loaded = try await cache.load("a") { _ in .absent() }
    #expect(loaded?.value == .some(nil))
    #expect(loaded?.remainingLifetime == .seconds(5))
    #expect(cache.isKnownAbsent("a"))
    clock.advance(by: .seconds(6))
    #expect(!cache.isKnownAbsent("a"))
    _ = try await cache.load("a") { _ in .absent(expiry: .after(.seconds(50))) }
    clock.advance(by: .seconds(49))
    #expect(cache.isKnownAbsent("a"))
  }

  @Test(arguments: SubjectKind.caches)
  func `an outcome that keeps nothing throws a clear error, and the key stays as it is`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 1) { executor in
      let cache = try Subject(kind, on: executor).cache
      let error = await #expect(throws: CisternError.self) { try await cache.load("a") { _ in .keepStored() } }
      try #require(error?.code == .invalidArgument)
      try #require(error?.description.contains("context.stored is nil") == true)
      try #require(try await cache.load("a") { _ in .store(1) }?.value == 1)
    }
  }

  @Test func `each attempt of a fetch has its number, and all of them the same stored value`() throws {
    try SeededExecutor.run(seed: 1) { executor in
      var settings = CacheConfiguration<Int>()
      settings.retry = RetryPolicy(attempts: 3, initialDelay: .zero)
      let subject = try Subject(.memory, on: executor, expiry: Self.minute, settings: settings)
      let attempts = Recorder<Int>()
      subject.cache["a"] = 4
      let loaded = try await subject.cache.load("a", policy: .reload) { context in
        attempts.record(context.attempt)
        try #require(context.stored?.value == 4)
        if context.attempt < 3 { throw Broken() }
        return .store(5)
      }
      try #require(loaded?.value == 5 && attempts.elements == [1, 2, 3])
    }
  }
}

extension Change where Key == String, Value == Int {
  fileprivate var kind: String {
    switch event {
    case .inserted(_, let value): "inserted \(value)"
    case .updated(_, let value): "updated \(value)"
    case .removed(_, let cause): "removed \(cause)"
    case .cleared: "cleared"
    case .invalidated: "invalidated"
    }
  }
}
