import CisternTesting
import CisternTestSupport
import Foundation
import Testing

@testable import CisternCore

/// Tests of caches with optional values, in which nil is a cached value with a separate lifetime.
@Suite struct AbsenceTests {
  private struct Article: Codable, Sendable, Equatable {
    var title: String
    var text: String
  }

  /// A cache of optional strings, in memory or over a second tier.
  private struct Shelf: Sendable {
    let clock: ManualClock
    let tier: FaultInjectingTier?
    let cache: Cache<String, String?>

    init(
      tier: FaultInjectingTier?, clock: ManualClock = ManualClock(), executor: (any TaskExecutor)? = nil,
      expiry: Expiry = .after(.seconds(600)), absenceExpiry: Expiry? = .after(.seconds(10))
    ) throws {
      self.clock = clock
      self.tier = tier
      let options = Store.Configuration.ignoringMemoryPressure(clock: clock, taskExecutor: executor)
      var configuration = CacheConfiguration<String?>()
      configuration.absenceExpiry = absenceExpiry
      if let tier {
        let store = try Store(secondTier: tier, memoryLimit: .kibibytes(64), configuration: options)
        cache = try store.cache(
          "texts", of: String?.self, keyedBy: String.self, expiry: expiry, configuration: configuration)
      } else {
        cache = try Cache(settings: configuration, expiry: expiry, configuration: options)
      }
    }
  }

  @Test(arguments: [false, true])
  func `a bulk load stores the absence of a key, and has it among its values`(isTiered: Bool) async throws {
    let shelf = try Shelf(tier: isTiered ? FaultInjectingTier() : nil)
    let loaded = try await shelf.cache.load(keys: ["gone", "left", "there"]) { _ in
      ["gone": .absent(), "there": .store("text")]
    }
    #expect(loaded.values == ["gone": nil, "there": "text"])
    #expect(loaded.missing == ["left"])
    #expect(shelf.cache.isKnownAbsent("gone") && !shelf.cache.isKnownAbsent("left"))
    let again = try await shelf.cache.load(keys: ["gone"]) { _ in
      Issue.record("the absence is cached")
      return [:]
    }
    #expect(again.values == ["gone": nil])
    shelf.clock.advance(by: .seconds(11))
    #expect(!shelf.cache.isKnownAbsent("gone"))
  }

  @Test(arguments: [false, true])
  func `a missing key is fetched once per lifetime of its absence`(isTiered: Bool) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let shelf = try Shelf(tier: isTiered ? FaultInjectingTier(taskExecutor: executor) : nil, executor: executor)
      let origin = ScriptedOrigin<String, String?> { _, _ in .value(nil) }
      for _ in 0..<5 {
        try #require(try await shelf.cache.value(forKey: "a", fetch: origin.fetch) == nil)
        if isTiered { shelf.cache.trim(toCost: 0) }
        shelf.clock.advance(by: .seconds(1))
      }
      try #require(origin.callCount == 1)
      try #require(shelf.cache.isKnownAbsent("a"))
      try #require(!shelf.cache.isKnownAbsent("b"))
      try #require(shelf.cache.contains("a"))
      shelf.clock.advance(by: .seconds(5))
      try #require(!shelf.cache.isKnownAbsent("a"))
      try #require(!shelf.cache.contains("a"))
      try #require(try await shelf.cache.value(forKey: "a", fetch: origin.fetch) == nil)
      try #require(origin.callCount == 2)
      try #require(shelf.cache.checkInvariants() == [])
    }
  }

  @Test(arguments: [false, true])
  func `concurrent loads of a missing key share one fetch, and a concurrent write wins`(isTiered: Bool) throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let shelf = try Shelf(tier: isTiered ? FaultInjectingTier(taskExecutor: executor) : nil, executor: executor)
      let cache = shelf.cache
      let origin = ScriptedOrigin<String, String?> { _, _ in .yielding(2, .value(nil)) }
      let loads = (0..<5).map { index in
        Task(executorPreference: executor) {
          var generator = SeededGenerator(seed: executor.seed * 5 + UInt64(index))
          await pause(&generator)
          return try await cache.value(forKey: "a", fetch: origin.fetch)
        }
      }
      var generator = SeededGenerator(seed: executor.seed)
      await pause(&generator, atMost: 12)
      let isSet = executor.seed % 2 == 0
      if isSet { cache.setValue("text", forKey: "a") }
      for load in loads {
        let loaded = try await load.value
        try #require(loaded == nil || isSet && loaded == "text")
      }
      while cache.statistics.inProgressCount > 0 { await Task.yield() }
      for _ in 0...(isTiered ? 1 : 0) {
        try #require(cache.isKnownAbsent("a") == !isSet)
        try #require(try await cache.value(forKey: "a", fetch: origin.fetch) == (isSet ? "text" : nil))
        cache.trim(toCost: 0)
      }
      try #require(origin.callCount == 1 || isSet && origin.callCount == 0)
      try #require(cache.checkInvariants() == [])
    }
  }

  @Test func `a present value replaces stored absence and has the cache's lifetime`() throws {
    let shelf = try Shelf(tier: FaultInjectingTier())
    shelf.cache.setValue(nil, forKey: "a")
    shelf.cache.setValue("text", forKey: "a")
    shelf.clock.advance(by: .seconds(599))
    #expect(shelf.cache["a"] == .some("text"))
    #expect(!shelf.cache.isKnownAbsent("a"))
    shelf.clock.advance(by: .seconds(1))
    #expect(shelf.cache["a"] == .none)
  }

  @Test func `absence without a configured lifetime has the cache's, unless the write specifies one`() throws {
    let shelf = try Shelf(tier: FaultInjectingTier(), absenceExpiry: nil)
    shelf.cache.setValue(nil, forKey: "a")
    shelf.cache.setValue(nil, forKey: "b", expiry: .after(.seconds(5)))
    shelf.clock.advance(by: .seconds(5))
    #expect(shelf.cache.isKnownAbsent("a"))
    #expect(!shelf.cache.isKnownAbsent("b"))
    shelf.clock.advance(by: .seconds(595))
    #expect(!shelf.cache.isKnownAbsent("a"))
  }

  @Test(arguments: [false, true])
  func `assigning nil removes the key, and setting nil stores absence`(isTiered: Bool) throws {
    let shelf = try Shelf(tier: isTiered ? FaultInjectingTier() : nil)
    shelf.cache.setValue(nil, forKey: "a")
    #expect(shelf.cache.isKnownAbsent("a"))
    #expect(shelf.cache.statistics.memory.cost == 1)
    shelf.cache["a"] = nil
    #expect(!shelf.cache.isKnownAbsent("a"))
    #expect(!shelf.cache.contains("a"))
    shelf.cache["a"] = "text"
    #expect((shelf.cache["a"] ?? nil) == "text")
  }

  @Test func `absence remains known after a restart`() async throws {
    let tier = FaultInjectingTier()
    let clock = ManualClock()
    let shelf = try Shelf(tier: tier, clock: clock)
    shelf.cache.setValue(nil, forKey: "a")
    shelf.cache.setValue("text", forKey: "b")
    try await tier.flush()
    clock.advance(by: .seconds(9))
    let again = try Shelf(tier: tier.reopenedAfterCrash(), clock: clock)
    #expect(try await again.cache.value(forKey: "a") { _ in "fetched" } == nil)
    #expect(again.cache["b"] == .some("text"))
    clock.advance(by: .seconds(1))
    #expect(try await again.cache.value(forKey: "a") { _ in "fetched" } == "fetched")
  }

  @Test func `observers receive stored absence like any other value`() async throws {
    let shelf = try Shelf(tier: FaultInjectingTier())
    var updates = shelf.cache.updates(buffering: .bounded(10)).makeAsyncIterator()
    shelf.cache.setValue(nil, forKey: "a")
    shelf.cache.setValue("text", forKey: "a")
    shelf.cache.setValue(nil, forKey: "a")
    shelf.cache["a"] = nil
    guard case .inserted("a", nil) = await updates.next()?.event,
      case .updated("a", "text") = await updates.next()?.event
    else {
      Issue.record("observers did not receive the stored absence")
      return
    }
    let absent = await updates.next()
    #expect(absent?.value == .some(.none))
    guard case .removed("a", .explicit) = await updates.next()?.event else {
      Issue.record("observers did not receive the removal")
      return
    }
  }

  @Test(arguments: [false, true])
  func `absence in grace is returned and refreshed once in the background`(isTiered: Bool) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let shelf = try Shelf(
        tier: isTiered ? FaultInjectingTier(taskExecutor: executor) : nil, executor: executor,
        absenceExpiry: .after(.seconds(10), graceStale: .seconds(60)))
      let gate = Gate()
      let origin = ScriptedOrigin<String, String?> { _, _ in .gated(gate, .value("there")) }
      shelf.cache.setValue(nil, forKey: "a")
      if isTiered { shelf.cache.trim(toCost: 0) }
      shelf.clock.advance(by: .seconds(20))
      try #require(!shelf.cache.isKnownAbsent("a"))
      for _ in 0..<5 { try #require(try await shelf.cache.value(forKey: "a", fetch: origin.fetch) == nil) }
      await gate.arrivals(atLeast: 1)
      gate.open()
      while origin.runningCount > 0 || shelf.cache.statistics.inProgressCount > 0 { await Task.yield() }
      try #require(origin.callCount == 1)
      try #require(shelf.cache["a"] == .some("there"))
      try #require(shelf.cache.checkInvariants() == [])
    }
  }

  @Test func `a present optional is encoded like the wrapped value, and absence has no bytes`() throws {
    let tier = FaultInjectingTier()
    let shelf = try Shelf(tier: tier)
    shelf.cache.setValue("text", forKey: "a")
    shelf.cache.setValue("", forKey: "b")
    shelf.cache.setValue(nil, forKey: "c")
    #expect(tier.committedBytes(forKey: "a", in: "texts") == Array("text".utf8))
    #expect(tier.committedBytes(forKey: "c", in: "texts") == [])
    #expect(shelf.cache.withBytes(forKey: "a") { $0.byteCount } == 4)
    #expect(shelf.cache.withBytes(forKey: "b") { $0.byteCount } == 0)
    #expect(shelf.cache.withBytes(forKey: "c") { $0.byteCount } == nil)
    shelf.cache.trim(toCost: 0)
    #expect(shelf.cache["b"] == .some(""))
    #expect(shelf.cache.isKnownAbsent("c"))

    // In a cache of non-optional values, the record of an absent value is not decodable, and the key is a miss.
    var options: Store.Configuration = .ignoringMemoryPressure
    options.clock = shelf.clock
    let store = try Store(secondTier: tier, memoryLimit: .kibibytes(64), configuration: options)
    let plain = try store.cache("texts", of: String.self, keyedBy: String.self)
    #expect(plain["c"] == nil)
    #expect(plain.statistics.notDecodable == 1)
    #expect(store.reports.map(\.code) == [.notDecodable])
  }

  @Test func `stored absence is readable in a newer schema version, which does not run its migration`() throws {
    let tier = FaultInjectingTier()
    let store = try Store(secondTier: tier, memoryLimit: .kibibytes(64))
    var configuration = CacheConfiguration<String?>()
    configuration.schema = CacheSchema(version: 1)
    try store.cache("texts", of: String?.self, keyedBy: String.self, configuration: configuration)
      .setValue(nil, forKey: "a")
    configuration.schema = CacheSchema(version: 2) { _, _ in throw Unreadable() }
    let newer = try Store(secondTier: tier, memoryLimit: .kibibytes(64))
      .cache("texts", of: String?.self, keyedBy: String.self, configuration: configuration)
    #expect(newer.isKnownAbsent("a"))
    #expect(newer.statistics.migrated == 1)
  }

  private func check<Wrapped: Equatable & Sendable>(_ cache: Cache<Int, Wrapped?>, _ value: Wrapped) {
    cache.setValue(value, forKey: 1)
    cache.setValue(nil, forKey: 2)
    cache.trim(toCost: 0)
    #expect(cache[1] == .some(value))
    #expect(cache.isKnownAbsent(2))
    #expect(cache.withBytes(forKey: 2) { _ in true } == nil)
    #expect(cache.checkInvariants() == [])
  }

  @Test func `every type with a built-in codec also has one for its optional`() throws {
    let store = try Store(secondTier: FaultInjectingTier(), memoryLimit: .kibibytes(64))
    check(try store.cache("json", of: Article?.self, keyedBy: Int.self), Article(title: "a", text: "b"))
    let inferred: Cache<Int, Article?> = try store.cache("inferred")
    check(inferred, Article(title: "a", text: "b"))
    check(try store.cache("bytes", of: [UInt8]?.self, keyedBy: Int.self), [1, 2])
    check(try store.cache("string", of: String?.self, keyedBy: Int.self), "text")
    check(try store.cache("integer", of: Int32?.self, keyedBy: Int.self), 7)
    check(try store.cache("number", of: Double?.self, keyedBy: Int.self), 0.5)
    check(try store.cache("data", of: Data?.self, keyedBy: Int.self), Data([3]))
    check(
      try store.cache("codec", codec: OptionalCodec(.propertyList(Article.self)), keyedBy: Int.self),
      Article(title: "a", text: "b"))
  }
}
