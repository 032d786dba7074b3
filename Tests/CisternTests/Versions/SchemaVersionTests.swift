import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

@Suite struct SchemaVersionTests {
  private func populated(_ tier: any SecondTier = FaultInjectingTier()) async throws -> VersionedCaches {
    let caches = VersionedCaches(tier: tier)
    let first = try caches.open(version: 1)
    first["a"] = "text"
    try await tier.flush()
    return caches
  }

  @Test func `a record of an older version is migrated at its first read and written again`() async throws {
    let caches = try await populated()
    let calls = Recorder<UInt32>()
    let second = try caches.open(version: 2) { bytes, version in
      calls.record(version)
      return try marking(bytes, version)
    }
    let changes = Recorder<Change<String, String>>()
    let token = second.observe { changes.record($0) }
    #expect(calls.elements == [])
    #expect(second["a"] == "text of 1")
    second.trim(toCost: 0)
    #expect(second["a"] == "text of 1")
    #expect(calls.elements == [1])
    #expect(second.statistics.migrated == 1)
    #expect(try caches.metadata("a")?.schemaVersion == 2)
    #expect(changes.elements.isEmpty)
    #expect(second.checkInvariants() == [])
    token.cancel()
    let reopened = try caches.open(version: 2)
    #expect(reopened["a"] == "text of 1")
    #expect(reopened.statistics.migrated == 0)
  }

  @Test func `a load of an older record migrates it and fetches nothing`() async throws {
    let caches = try await populated()
    let second = try caches.open(version: 2, migrate: marking)
    let value = try await second.value(forKey: "a") { _ in throw Unreadable() }
    #expect(value == "text of 1")
    #expect(second.statistics.flights == 1)
    #expect(second.statistics.migrated == 1)
    #expect(try await second.values(forKeys: ["a"]) { _ in [:] }.values == ["a": "text of 1"])
  }

  @Test func `a migrated record keeps its times and tags and is weighed again`() async throws {
    let tier = FaultInjectingTier()
    let caches = VersionedCaches(tier: tier)
    let partition = try tier.transactionalPartition(named: VersionedCaches.partition)
    let now = caches.clock.wallTime()
    let old = RecordMetadata(
      created: now, expires: Expiry.after(.seconds(60)).wallExpiry(from: now), cost: 3, schemaVersion: 1,
      tags: ["news"]
    ).with {
      $0.grace = 5
      $0.idle = 1_000_000_000_000
      $0.lastUsed = now
      $0.refreshAhead = 7
    }
    _ = partition.stage(.record(key: Array("a".utf8), old, bytes: Array("old".utf8)))
    caches.clock.advance(by: .seconds(30))
    let cache = try caches.open(version: 9, weight: 100, migrate: marking)
    #expect(cache["a"] == "old of 1")
    var expected = old
    expected.schemaVersion = 9
    expected.cost = 108
    #expect(try caches.metadata("a") == expected)
    #expect(cache.statistics.memory.cost == 108)
    caches.clock.advance(by: .seconds(30))
    #expect(cache["a"] == nil)
  }

  private let nothing: CacheSchema<String>.Migration = { _, _ in nil }

  @Test(arguments: [false, true])
  func `an older record is dropped if its migration is missing or returns nil`(hasMigration: Bool) async throws {
    let caches = try await populated()
    let reports = Recorder<StoreReport.Code>()
    let second = try caches.open(version: 2, reports: reports, migrate: hasMigration ? nothing : nil)
    let changes = Recorder<Change<String, String>>()
    let updates = second.updates()
    #expect(second["a"] == nil)
    #expect(second.statistics.dropped == 1)
    #expect(second.statistics.misses == 1)
    #expect(try caches.metadata("a") == nil)
    #expect(reports.elements.isEmpty)
    var iterator = updates.makeAsyncIterator()
    if let change = await iterator.next() { changes.record(change) }
    guard case .removed("a", .outdated) = changes.elements.first?.event else {
      Issue.record("\(changes.elements)")
      return
    }
  }

  @Test func `a migration that throws drops only its record and is reported`() async throws {
    let caches = VersionedCaches()
    let first = try caches.open(version: 1)
    first["a"] = "bad"
    first["b"] = "good"
    let reports = Recorder<StoreReport.Code>()
    let second = try caches.open(version: 2, reports: reports) { bytes, version in
      if bytes == Array("bad".utf8) { throw Unreadable() }
      return try marking(bytes, version)
    }
    #expect(second["a"] == nil)
    #expect(second["b"] == "good of 1")
    #expect(reports.elements == [.notMigrated])
    #expect(second.statistics.dropped == 1)
    #expect(second.statistics.migrated == 1)
    #expect(try caches.metadata("a") == nil)
  }

  @Test(arguments: [nil, 1] as [UInt32?])
  func `a record of a newer version is absent, and stays until its key is written`(version: UInt32?) async throws {
    let caches = VersionedCaches()
    let newer = try caches.open(version: 2)
    newer.setValue("new", forKey: "a")
    newer.setValue("new", forKey: "b", expiry: .after(.seconds(10)))
    newer["c"] = "new"
    newer["d"] = "new"
    let older = try caches.open(version: version, migrate: marking)
    #expect(older["a"] == nil)
    #expect(!older.contains("a"))
    #expect(older.withBytes(forKey: "a") { _ in true } == nil)
    #expect(older.updateValue(forKey: "a") { $0 } == nil)
    #expect(try await older.values(forKeys: ["a"]) { _ in [:] }.missing == ["a"])
    await #expect(throws: Unreadable.self) { try await older.value(forKey: "a") { _ in throw Unreadable() } }
    // The record stays even after its expiry.
    caches.clock.advance(by: .seconds(20))
    #expect(older["b"] == nil)
    #expect(try caches.metadata("b")?.schemaVersion == 2)
    older["c"] = "old"
    older.removeValue(forKey: "d")
    #expect(older.statistics.dropped == 0)
    #expect(older.checkInvariants() == [])

    let again = try caches.open(version: 2, migrate: marking)
    #expect(again["a"] == "new")
    #expect(again["c"] == "old of \(version ?? 0)")
    #expect(again["d"] == nil)
  }

  @Test func `a value fetched instead of a newer record is stored`() async throws {
    let caches = VersionedCaches()
    try caches.open(version: 2)["a"] = "new"
    let older = try caches.open(version: 1)
    #expect(try await older.value(forKey: "a") { _ in "fetched" } == "fetched")
    #expect(try caches.metadata("a")?.schemaVersion == 1)
  }

  @Test func `bytes of another version are never returned`() async throws {
    let caches = try await populated()
    let second = try caches.open(version: 2, migrate: marking)
    let bytes = second.withBytes(forKey: "a") { $0.copiedBytes() }
    #expect(bytes == Array("text of 1".utf8))
    #expect(try caches.metadata("a")?.schemaVersion == 2)
    let dropping = try caches.open(version: 3)
    #expect(dropping.withBytes(forKey: "a") { _ in true } == nil)
    #expect(dropping.statistics.dropped == 1)
  }

  @Test func `the migration decides whether a value is present`() async throws {
    let caches = try await populated()
    #expect(try caches.open(version: 2, migrate: { _, _ in "there" }).contains("a"))
    #expect(try !caches.open(version: 3, migrate: { _, _ in nil }).contains("a"))
  }

  @Test func `an update receives the migrated value`() async throws {
    let caches = try await populated()
    let second = try caches.open(version: 2, migrate: marking)
    second.updateValue(forKey: "a") { $0? += "!" }
    #expect(second["a"] == "text of 1!")
  }

  @Test func `a value that memory cannot hold is also migrated only once`() async throws {
    let caches = try await populated()
    let calls = Recorder<UInt32>()
    let second = try caches.open(version: 2, memoryLimit: 2) { bytes, version in
      calls.record(version)
      return try marking(bytes, version)
    }
    for _ in 0..<3 { #expect(second["a"] == "text of 1") }
    #expect(try await second.value(forKey: "a") { _ in "fetched" } == "text of 1")
    #expect(calls.count == 1)
    #expect(second.checkInvariants() == [])
  }

  @Test func `migrated records are on disk after a restart, and opening changes nothing`() async throws {
    let scratch = TemporaryDirectory()
    for version in [1, 2, 3, 2, 3] as [UInt32] {
      let tier = try openTier(scratch)
      let caches = VersionedCaches(tier: tier)
      let cache = try caches.open(version: version, migrate: marking)
      if version == 1 {
        for number in 0..<100 { cache["\(number)"] = "text" }
      } else {
        #expect(tier.statistics.commits == 0)
        for number in 0..<100 where number % Int(version) == 0 {
          let value = cache["\(number)"]
          switch (version, number % 2) {
          // From the second time on, the record is already in version 3.
          case (2, _): #expect(value == "text of 1" || (number % 3 == 0 && value == nil))
          case (_, 0): #expect(value == "text of 1 of 2")
          default: #expect(value == "text of 1")
          }
        }
      }
      try await tier.close()
    }
  }
}
