import Cistern
import CisternTestSupport
import CisternTesting
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

/// A partition that must be cleared because the disk tier can keep no more removals. Observers learn of it.
@Suite struct LostPartitionTests {
  /// A store whose disk fails on request, with values on disk only and in both tiers.
  private final class Fixture: Sendable {
    static let limit = 64

    let scratch = TemporaryDirectory()
    let failing = Switch<DiskFaults.Fault>()
    let tier: DiskTier
    let store: Store
    let cache: Cache<String, Int>
    let log = ChangeFold()
    let token: ObservationToken

    init(diskLimit: ByteCount = .mebibytes(16)) async throws {
      var options = DiskOptions(
        limit: diskLimit, durability: .processCrash, commitInterval: .seconds(3600))
      options.retryInterval = .seconds(3600)
      options.faults = DiskFaults { [failing] in failing.peek() }
      options.removalLimit = Self.limit
      tier = try DiskTier(directory: scratch.store, options: options)
      store = try Store(secondTier: tier, memoryLimit: .mebibytes(64), configuration: .ignoringMemoryPressure)
      cache = try store.cache("values", of: Int.self, keyedBy: String.self)
      token = cache.observe { [log] in log.add($0) }
      for key in ["disk", "other"] { cache.setValue(1, forKey: key) }
      try await store.flush()
      cache.trim(toCost: 0)
      for key in ["both", "more"] { cache.setValue(2, forKey: key, tags: ["kept"]) }
      try await store.flush()
    }

    func fail() async throws {
      failing.set(.inputOutput)
      cache.setValue(0, forKey: "trigger")
      await #expect(throws: CisternError.self) { try await store.flush() }
      try #require(cache.statistics.disk?.mode == .degraded)
    }

    /// Refuses more writes than the tier keeps removals.
    func exceedLimit() {
      for number in 0...Self.limit { cache.setValue(number, forKey: "n\(number)") }
    }

    /// Waits until the observer has received every earlier change.
    func settle(_ number: Int = -1) async {
      cache.setValue(number, forKey: "settled")
      while log.contents["settled"] != number { await Task.yield() }
    }

    /// The contents of the cache, by an enumeration.
    func contents() async throws -> [String: Int] {
      var contents: [String: Int] = [:]
      for try await entry in cache.entries() { contents[entry.key] = entry.value() }
      return contents
    }
  }

  @Test func `observers learn that more writes were given up than the tier keeps removals`() async throws {
    let fixture = try await Fixture()
    let cache = fixture.cache
    try await fixture.fail()
    fixture.exceedLimit()
    await fixture.settle()
    #expect(fixture.log.clears == 1)
    #expect(cache["disk"] == nil && cache["other"] == nil)
    #expect(cache["both"] == 2 && cache["n0"] == 0)
    let contents = try await fixture.contents()
    #expect(fixture.log.contents == contents)
    #expect(cache.checkInvariants() == [])
    // Memory alone has the values, so their eviction ends them.
    cache.trim(toCost: 0)
    await fixture.settle(-2)
    #expect(fixture.log.contents == ["settled": -2])
    #expect(try await fixture.contents() == ["settled": -2])
    fixture.failing.set(nil)
    await #expect(throws: CisternError.self) { try await fixture.store.flush() }
    try await fixture.store.flush()
    #expect(try fixture.tier.cache("values").keys() == [])
    #expect(fixture.log.clears == 1)
    try await fixture.store.close()
  }

  @Test func `a cleared partition keeps no removals until the clear is committed`() async throws {
    let fixture = try await Fixture()
    try await fixture.fail()
    for _ in 0..<10 { fixture.exceedLimit() }
    for number in 0..<1000 { fixture.cache.setValue(number, forKey: "m\(number)") }
    await fixture.settle()
    #expect(fixture.log.clears == 1)
    #expect(fixture.tier.engine.stagedCount.load(ordering: .relaxed) < Fixture.limit)
    // A record that is staged after the clear is removed, although the clear hides the older ones.
    fixture.tier.engine.mode = .active
    fixture.cache.setValue(7, forKey: "late")
    fixture.tier.engine.mode = .degraded
    fixture.cache.removeValue(forKey: "late")
    #expect(fixture.cache["late"] == nil)
    fixture.failing.set(nil)
    _ = try? await fixture.store.flush()
    try await fixture.store.flush()
    #expect(try fixture.tier.cache("values").keys() == [])
    try await fixture.store.close()
  }

  @Test func `removals under a condition are bounded, too`() async throws {
    let fixture = try await Fixture()
    for number in 0..<2 * Fixture.limit { fixture.cache.setValue(number, forKey: "old\(number)") }
    try await fixture.store.flush()
    let identities = (0..<2 * Fixture.limit).map { number in
      fixture.cache.secondTier!.read("old\(number)")!.identity
    }
    try await fixture.fail()
    let partition = try #require(fixture.cache.secondTier).partition
    for (number, identity) in identities.enumerated() {
      _ = partition.stage(.removal(key: bytes("old\(number)")), if: .identity(identity))
      if partition.mustRemoveAll { break }
    }
    #expect(partition.mustRemoveAll)
    // The next write of the cache removes all records, after its own event.
    fixture.cache.setValue(0, forKey: "next")
    await fixture.settle()
    #expect(fixture.log.clears == 1)
    let staged = fixture.tier.engine.stagedCount.load(ordering: .relaxed)
    for (number, identity) in identities.enumerated() {
      _ = partition.stage(.removal(key: bytes("old\(number)")), if: .identity(identity))
    }
    #expect(fixture.tier.engine.stagedCount.load(ordering: .relaxed) == staged)
    try? await fixture.store.close()
  }

  @Test func `observers learn that too many removals by tag clear the partition, and memory keeps its values`()
    async throws
  {
    let fixture = try await Fixture(diskLimit: .mebibytes(1))
    let cache = fixture.cache
    let bound = fixture.tier.engine.limits.invalidationBytes
    var number = 0
    while cache["disk"] != nil, number < bound {
      cache.trim(toCost: 0)
      _ = cache["both"]
      cache.removeAll(tagged: "none-\(number)")
      number += 1
    }
    #expect(cache["both"] == 2 && cache["more"] == nil && cache["other"] == nil)
    await fixture.settle()
    #expect(fixture.log.clears == 1)
    #expect(fixture.log.contents == ["both": 2, "settled": -1])
    cache.removeAll(tagged: "kept")
    #expect(cache["both"] == nil)
    #expect(cache.checkInvariants() == [])
    // The clear has dropped a staged record.
    await #expect(throws: CisternError.self) { try await fixture.store.close() }
  }

  @Test
  func `a caller that waits for the commit of a write gets an error if a clear that no caller requested drops it`()
    async throws
  {
    let fixture = try await Fixture()
    let partition = try #require(fixture.cache.secondTier).partition
    guard case .staged(let ticket) = partition.put("staged", [1]) else { throw Unexpected() }
    fixture.tier.engine.partition(named: "values").clearState.requireClear()
    fixture.cache.removeValue(forKey: "disk")
    await #expect(throws: CisternError.self) { try await partition.waitForCommit(ticket) }
    await #expect(throws: CisternError.self) { try await fixture.store.flush() }
    try await fixture.store.flush()
    try await fixture.store.close()
  }

  private struct Unexpected: Error {}

  @Test(arguments: [true, false])
  func `a value that was read before its record was lost is returned, and memory does not keep it`(isLoaded: Bool)
    throws
  {
    try SeededSchedule.explore(seeds: 1) { executor in
      let subject = try Subject(.twoTiers, on: executor)
      let (cache, tier) = (subject.cache, subject.tier!)
      let log = ChangeFold()
      let token = cache.observe { log.add($0) }
      cache["key"] = 1
      cache.trim(toCost: 0)
      tier.setAfterLoad { [weak tier] key in
        guard key == bytes("key"), let tier else { return }
        tier.setAfterLoad(nil)
        tier.requireRemovalOfAll(in: Subject.partition)
        cache["other"] = 2
      }
      let value = isLoaded ? try await subject.value("key") { _ in 3 } : cache["key"]
      try #require(value == 1)
      try #require(cache["key"] == nil)
      while log.contents["other"] == nil { await Task.yield() }
      try #require(log.contents == ["other": 2])
      token.cancel()
    }
  }

  @Test func `a value that an unconfirmed edit shows beside memory stays when all records are lost`() throws {
    try SeededSchedule.explore(seeds: 1) { executor in
      let subject = try Subject(.twoTiers, on: executor)
      let (cache, tier) = (subject.cache, subject.tier!)
      let log = ChangeFold()
      let token = cache.observe { log.add($0) }
      cache["key"] = 1
      cache["other"] = 1
      let gate = Gate()
      let edit = Task(executorPreference: executor) {
        try await cache.editValue(forKey: "key", { ($0 ?? 0) + 1 }) {
          try await gate.pass()
          return 5
        }
      }
      await gate.arrivals(atLeast: 1)
      cache.trim(toCost: 0)
      tier.requireRemovalOfAll(in: Subject.partition)
      cache["last"] = 3
      while log.contents["last"] == nil { await Task.yield() }
      try #require(cache["key"] == 2 && cache["other"] == nil)
      try #require(log.contents == ["key": 2, "last": 3])
      gate.open()
      _ = try await edit.value
      try #require(cache["key"] == 5)
      token.cancel()
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `changes lead to the cache's contents whatever is in progress when all records are lost`(kind: SubjectKind)
    throws
  {
    try SeededSchedule.explore { executor in
      let subject = try Subject(kind, on: executor)
      let (cache, tier) = (subject.cache, subject.tier!)
      let log = ChangeFold()
      let token = cache.observe { log.add($0) }
      let keys = ["a", "b", "c"]
      for key in keys { cache.setValue(1, forKey: key, tags: [key]) }
      try await tier.flush()
      cache.trim(toCost: 0)
      await withTaskGroup(of: Void.self) { group in
        for key in keys { group.addTask(executorPreference: executor) { _ = try? await subject.value(key) { _ in 2 } } }
        group.addTask(executorPreference: executor) { _ = cache["b"] }
        group.addTask(executorPreference: executor) {
          tier.requireRemovalOfAll(in: Subject.partition)
          await Task.yield()
          cache["d"] = 3
        }
        group.addTask(executorPreference: executor) { cache.removeAll(withPrefix: "a") }
        group.addTask(executorPreference: executor) { cache.updateValue(forKey: "c") { $0 = ($0 ?? 0) + 10 } }
        group.addTask(executorPreference: executor) { cache.trim(toCost: 0) }
        group.addTask(executorPreference: executor) { tier.commit() }
      }
      cache["end"] = 0
      while log.contents["end"] == nil { await Task.yield() }
      try #require(log.clears == 1)
      for key in keys + ["d"] { try #require(log.contents[key] == cache[key]) }
      cache.trim(toCost: 0)
      cache["end"] = 1
      while log.contents["end"] != 1 { await Task.yield() }
      for key in keys + ["d"] { try #require(log.contents[key] == cache[key]) }
      try #require(cache.checkInvariants() == [])
      token.cancel()
    }
  }
}
