import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The changes and counts of an older program version for records of a newer one.
@Suite struct NewerSchemaChangesTests {
  enum Write: CaseIterable, Sendable {
    case set, update, load, batch, edit, draft

    func apply(to cache: Cache<String, String>) async throws {
      switch self {
      case .set: cache["a"] = "older"
      case .update: Self.update(cache)
      case .load: _ = try await cache.value(forKey: "a") { _ in "older" }
      case .batch: try cache.batch { $0.setValue("older", forKey: "a") }
      case .edit:
        try await cache.editValue(forKey: "a") {
          $0 ?? "older"
        } confirmedBy: {
          nil
        }
      case .draft:
        let draft = cache.draft()
        draft["a"] = draft["a"] ?? "older"
        try draft.save()
      }
    }

    private static func update(_ cache: Cache<String, String>) { cache.updateValue(forKey: "a") { $0 = $0 ?? "older" } }
  }

  @Test(arguments: Write.allCases)
  func `for observers of an older version, a value that replaces a newer version's record is inserted`(
    write: Write
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let caches = VersionedCaches(executor: executor)
      try caches.open(version: 2)["a"] = "newer"
      let older = try caches.open(version: 1)
      let events = Recorder<String>()
      let token = older.observe { events.record("\($0.event)") }
      try #require(older["a"] == nil)
      try await write.apply(to: older)
      try #require(older["a"] == "older")
      for _ in 0..<50 { await Task.yield() }
      try #require(events.elements == [#"inserted("a", "older")"#])
      token.cancel()
    }
  }

  @Test func `the removal of a newer version's record is neither announced nor counted`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let caches = VersionedCaches(executor: executor)
      let newer = try caches.open(version: 2)
      for key in ["a", "b"] { newer[key] = "newer" }
      let older = try caches.open(version: 1)
      let events = Recorder<String>()
      let token = older.observe { events.record("\($0.event)") }
      older.removeValue(forKey: "a")
      try #require(older.removeAll { _ in true } == 0)
      for _ in 0..<50 { await Task.yield() }
      try #require(events.elements == [] && older.statistics.removals == 0)
      // The removed values are stale for every version.
      try #require(try caches.metadata("a") == nil && caches.metadata("b") == nil)
      token.cancel()
    }
  }

  @Test func `a write that leaves nil keeps a newer version's record, also below an unconfirmed edit`() async throws {
    let caches = VersionedCaches()
    try caches.open(version: 2)["a"] = "newer"
    let older = try caches.open(version: 1)
    #expect(
      try await older.editValue(forKey: "a") { _ in
        nil
      } confirmedBy: {
        nil
      } == nil)
    #expect(try caches.metadata("a")?.schemaVersion == 2)
    let edited = try await older.editValue(forKey: "a") { _ in
      "edited"
    } confirmedBy: {
      older.updateValue(forKey: "a") { $0 = nil }
      return nil
    }
    #expect(edited == nil && older["a"] == nil)
    #expect(try caches.metadata("a")?.schemaVersion == 2)
  }

  @Test func `an update that leaves nil keeps a newer version's record below an edit of a value that has ended`()
    async throws
  {
    let caches = VersionedCaches()
    let newer = try caches.open(version: 2)
    let older = try caches.open(version: 1)
    older.setValue("older", forKey: "a", expiry: .after(.seconds(10)))
    let edited = try await older.editValue(forKey: "a") { _ in
      "edited"
    } confirmedBy: {
      newer["a"] = "newer"
      caches.clock.advance(by: .seconds(20))
      older.updateValue(forKey: "a") { $0 = nil }
      return nil
    }
    #expect(edited == nil)
    #expect(try caches.metadata("a")?.schemaVersion == 2)
  }

  @Test(arguments: [false, true])
  func `a fetch that returns absence removes a newer version's record, also below an unconfirmed edit`(
    isEdited: Bool
  ) async throws {
    let caches = VersionedCaches()
    try caches.open(version: 2)["a"] = "newer"
    let older = try caches.open(version: 1)
    let load = { @Sendable in _ = try await older.load("a", policy: .reload) { _ in .absent() } }
    if isEdited {
      try await older.editValue(forKey: "a") { _ in
        "edited"
      } confirmedBy: {
        try await load()
        #expect(try caches.metadata("a") == nil)
        return nil
      }
    } else {
      try await load()
      #expect(try caches.metadata("a") == nil)
    }
  }

  @Test(arguments: [false, true])
  func `a newer version's record leaves the second tier unnoticed by observers of an older version`(
    isReplaced: Bool
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let tier = FaultInjectingTier(losses: .onDemand, taskExecutor: executor)
      let caches = VersionedCaches(tier: tier, executor: executor)
      try caches.open(version: 2)["a"] = "newer"
      let older = try caches.open(version: 1)
      let events = Recorder<String>()
      let token = older.observe { events.record("\($0.event)") }
      try #require(tier.evict("a", from: VersionedCaches.partition))
      if isReplaced { older["a"] = "older" }
      tier.deliverLosses()
      for _ in 0..<50 { await Task.yield() }
      try #require(events.elements == (isReplaced ? [#"inserted("a", "older")"#] : []))
      try #require(older["a"] == (isReplaced ? "older" : nil))
      try #require(older.checkInvariants() == [])
      token.cancel()
    }
  }

  @Test func `the disk tells the version of each record that it evicts`() async throws {
    let delivered = DeliveredReports()
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, limit: .kibibytes(256), interval: .seconds(3600))
    let partition = try tier.cache(delivered: delivered)
    for number in 0..<600 {
      var metadata = DiskPartition.metadata()
      metadata.schemaVersion = UInt32(number % 3)
      _ = partition.stage(.record(key: bytes("key-\(number)"), metadata, bytes: value(number, size: 900)))
      if number % 32 == 31 { try await tier.flush() }
    }
    try await tier.flush()
    let versions = delivered.losses.withLock { losses in
      losses.map { (String(decoding: $0.key, as: UTF8.self), $0.schemaVersion) }
    }
    #expect(versions.count > 100)
    for (key, version) in versions { #expect(version == UInt32(key.dropFirst(4))! % 3) }
    try await tier.close()
  }

  @Test func `the disk returns the version of a staged or committed record without counting a read`() async throws {
    let tier = try openTier(TemporaryDirectory())
    let cache = try VersionedCaches(tier: tier).open(version: 7)
    let partition = try tier.transactionalPartition(named: VersionedCaches.partition)
    let long = String(repeating: "long ", count: 200)
    for key in ["a", long] {
      cache.setValue("value", forKey: key, expiry: .after(.seconds(60)), tags: ["tag"])
      #expect(partition.schemaVersion(of: Array(key.utf8).rawSpan) == 7)
      try await tier.flush()
      let hits = partition.statistics.hits
      #expect(partition.schemaVersion(of: Array(key.utf8).rawSpan) == 7)
      #expect(partition.statistics.hits == hits)
    }
    #expect(partition.schemaVersion(of: Array("other".utf8).rawSpan) == nil)
    try await tier.close()
  }
}
