import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Records that a custom tier loses without a report.
@Suite struct UnreportedLossTests {
  private let tier = SmallTier()
  private let store: Store
  private let cache: Cache<String, Int>

  init() throws {
    store = try Store(
      secondTier: tier, memoryLimit: .mebibytes(1), configuration: .ignoringMemoryPressure(clock: ManualClock()))
    cache = try store.cache("numbers", of: Int.self, keyedBy: String.self)
  }

  @Test(arguments: [false, true])
  func `an enumeration lists the keys of memory whose records were lost`(hasBegun: Bool) throws {
    let keys = (10..<22).map { "k\($0)" }
    for (number, key) in keys.enumerated() { cache[key] = number }
    cache.trim(toCost: 0)
    var walk = try EntryWalk(cache, .all, after: nil)
    var found: [String] = []
    if hasBegun { found = try walk.nextEntries(limit: 3).map(\.key) }
    for key in ["k11", "k15", "k21"] {
      #expect(cache[key] != nil)
      tier.state.withLock { $0.records[Array(key.utf8)] = nil }
    }
    while !walk.isAtEnd { found += try walk.nextEntries(limit: 3).map(\.key) }
    #expect(found == keys)
  }

  @Test(arguments: [nil, "k1"] as [String?])
  func `an enumeration lists the records of a custom tier once`(prefix: String?) async throws {
    for number in 0..<1300 { cache["k\(number)"] = number }
    cache.trim(toCost: 0)
    // These keys are in memory, too.
    for number in 500..<600 { #expect(cache["k\(number)"] == number) }
    let selection = prefix.map { EntrySelection.withPrefix(KeyPrefix($0)) } ?? .all
    let expected = (0..<1300).map { "k\($0)" }.filter { $0.hasPrefix(prefix ?? "") }.sorted()
    var found: [String] = []
    for try await entry in cache.entries(selection) { found.append(entry.key) }
    #expect(found == expected)
    #expect(tier.state.withLock { $0.listingCount } == 1)
    #expect(try await cache.keyCount(selection) == expected.count)
    #expect(tier.state.withLock { $0.listingCount } == 2)
    let page = try cache.page(limit: 2, of: selection)
    #expect(page.entries.map(\.key) == Array(expected.prefix(2)) && page.next != nil)
  }

  @Test func `a removal by predicate removes a key whose record is lost while memory holds it`() throws {
    for (number, key) in ["a", "b"].enumerated() { cache[key] = number }
    cache.trim(toCost: 0)
    let promoteAndLose: @Sendable () -> Void = { [tier, cache] in
      _ = cache["a"]
      tier.state.withLock { $0.records[Array("a".utf8)] = nil }
    }
    tier.state.withLock { $0.beforeListing = promoteAndLose }
    #expect(cache.removeAll(where: { _ in true }) == 2)
    #expect(cache["a"] == nil && cache["b"] == nil)
  }

  @Test(arguments: [false, true])
  func `a value is read once, also if another key is missed concurrently`(isLoad: Bool) async throws {
    let others = (0..<1000).map { "other \($0)" }
    // This key shares no count with the missed one.
    let key = Array("a".utf8).hashValue
    let other = try #require(others.first { (Array($0.utf8).hashValue ^ key) & 63 != 0 })
    cache["a"] = 1
    cache.trim(toCost: 0)
    let before = tier.state.withLock { $0.readCount }
    let miss: @Sendable () -> Void = { [cache] in _ = cache[other] }
    tier.state.withLock { $0.duringRead = miss }
    if isLoad {
      let loaded = try await cache.value(forKey: "a") { _ in 2 }
      #expect(loaded == 1)
    } else {
      #expect(cache["a"] == 1)
    }
    // Memory has the value now.
    #expect(cache["a"] == 1)
    // One read is that of the other key.
    #expect(tier.state.withLock { $0.readCount } == before + 2)
    #expect(cache.checkInvariants() == [])
  }

  @Test func `a value that is lost while it is read does not return after a removal by predicate`() {
    cache["a"] = 1
    cache.trim(toCost: 0)
    let loseAndRemove: @Sendable () -> Void = { [tier, cache] in
      tier.state.withLock { $0.records = [:] }
      #expect(cache.removeAll(where: { _ in true }) == 0)
    }
    tier.state.withLock { $0.duringRead = loseAndRemove }
    #expect(cache["a"] == 1)
    #expect(cache["a"] == nil)
    #expect(cache.checkInvariants() == [])
  }

  @Test(arguments: [false, true])
  func `a value that is lost while it is read does not return after a miss`(isLoad: Bool) async throws {
    cache["a"] = 1
    cache.trim(toCost: 0)
    let found = Recorder<Int?>()
    let loseAndMiss: @Sendable () -> Void = { [tier, cache] in
      tier.state.withLock { $0.records = [:] }
      found.record(cache["a"])
    }
    tier.state.withLock { $0.duringRead = loseAndMiss }
    if isLoad {
      found.record(try await cache.value(forKey: "a") { _ in 2 })
    } else {
      found.record(cache["a"])
    }
    found.record(cache["a"])
    #expect(found.elements == [nil, 1, nil])
    #expect(cache.checkInvariants() == [])
  }
}
