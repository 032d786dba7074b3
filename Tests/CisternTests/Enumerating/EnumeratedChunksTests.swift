import Cistern
import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Enumerations of records that lie on disk alone, and of more records than one transaction reads.
@Suite struct EnumeratedChunksTests {
  @Test(arguments: DiskLayout.both)
  func `keys of stale values that lie on disk alone do not appear, and their entries do`(
    layout: DiskLayout
  ) async throws {
    let fixture = try EnumerationFixture(layout, expiry: .after(.seconds(60), graceStale: .seconds(60)))
    let cache = fixture.cache
    for number in 0..<3 { cache["early \(number)"] = [1] }
    // An enumeration has all details of a long key.
    cache["early " + String(repeating: "x", count: 90)] = [1]
    try await fixture.store.flush()
    fixture.clock.advance(by: .seconds(40))
    cache["late"] = [2]
    try await fixture.moveToDisk()
    #expect(try await cache.keyCount() == 5)
    fixture.clock.advance(by: .seconds(30))
    #expect(try await cache.allKeys() == ["late"])
    #expect(try await cache.keyCount() == 1)
    let entries = try cache.page().entries
    #expect(entries.count == 5 && entries.filter { !$0.isStale }.map(\.key) == ["late"])
    fixture.clock.advance(by: .seconds(60))
    #expect(try await cache.keyCount() == 0)
    #expect(try cache.page().entries.map(\.key) == ["late"])
  }

  @Test(arguments: DiskLayout.both)
  func `expired values without grace that lie on disk alone do not appear`(layout: DiskLayout) async throws {
    let fixture = try EnumerationFixture(layout, expiry: .after(.seconds(60)))
    let cache = fixture.cache
    for number in 0..<3 { cache["early \(number)"] = [1] }
    try await fixture.store.flush()
    fixture.clock.advance(by: .seconds(40))
    cache["late"] = [2]
    try await fixture.moveToDisk()
    let entries = try cache.page().entries.sorted { $0.key < $1.key }
    #expect(entries.map(\.key) == ["early 0", "early 1", "early 2", "late"])
    #expect(entries.map(\.remainingLifetime) == [.seconds(20), .seconds(20), .seconds(20), .seconds(60)])
    #expect(entries.map(\.age) == [.seconds(40), .seconds(40), .seconds(40), .zero])
    #expect(entries.allSatisfy { $0.tags == [] && $0.residency == .secondTier && !$0.isStale })
    #expect(try await cache.keyCount() == 4)
    fixture.clock.advance(by: .seconds(20))
    #expect(try await cache.keyCount() == 1)
    #expect(try await cache.allKeys() == ["late"])
    #expect(try cache.page().entries.map(\.key) == ["late"])
  }

  @Test(arguments: DiskLayout.both)
  func `a value that was written while the clock was set forward appears after the clock is set back`(
    layout: DiskLayout
  ) async throws {
    let fixture = try EnumerationFixture(layout, expiry: .after(.seconds(60)))
    let cache = fixture.cache
    fixture.clock.moveWallTime(by: .seconds(10))
    cache["early"] = [1]
    try await fixture.moveToDisk()
    fixture.clock.moveWallTime(by: .seconds(-10))
    #expect(try await cache.keyCount() == 1)
    #expect(try await cache.allKeys() == ["early"])
    let entry = try #require(try cache.page().entries.first)
    #expect(entry.remainingLifetime == .seconds(60))
    fixture.clock.advance(by: .seconds(69))
    #expect(try await cache.keyCount() == 1)
    fixture.clock.advance(by: .seconds(1))
    #expect(try await cache.keyCount() == 0)
    try #require(try cache.page().entries.isEmpty)
  }

  @Test func `keys of another schema version appear only if it is older and has a migration`() async throws {
    let scratch = TemporaryDirectory()
    func count(_ schema: CacheSchema<String>, storing value: String? = nil) async throws -> [Int] {
      let store = try Store(directory: scratch.store, memoryLimit: .bytes(1), diskLimit: .mebibytes(8))
      var configuration = CacheConfiguration<String>()
      configuration.schema = schema
      let cache = try store.cache("texts", of: String.self, keyedBy: Int.self, configuration: configuration)
      if let value {
        cache[1] = value
        try await store.flush()
      }
      var entries = 0
      for try await _ in cache.entries() { entries += 1 }
      let counts = [try await cache.keyCount(), try await cache.allKeys().count, entries]
      try await store.close()
      return counts
    }
    #expect(try await count(CacheSchema(version: 2), storing: "text") == [1, 1, 1])
    #expect(try await count(CacheSchema(version: 1)) == [0, 0, 0])
    #expect(try await count(CacheSchema(version: 3)) == [0, 0, 0])
    #expect(
      try await count(CacheSchema(version: 3) { bytes, _ in String(decoding: bytes, as: UTF8.self) }) == [1, 1, 1])
  }

  @Test(arguments: DiskLayout.both)
  func `bytes that are no string are not counted as a key`(layout: DiskLayout) async throws {
    let fixture = try EnumerationFixture(layout)
    let bytes = try fixture.store.cache("bytes", of: [UInt8].self, keyedBy: [UInt8].self)
    let long = [UInt8](repeating: 0x61, count: 30)
    for key in [[0x61], [0xFF], [0xC3, 0xA9], long, [0xC3] + long] { bytes[key] = [1] }
    try await fixture.store.flush()
    bytes.trim(toCost: 0)
    #expect(try await bytes.keyCount() == 5)
    let valid = try await bytes.allKeys().count { String(keyBytes: $0.rawSpan) != nil }
    #expect(valid == 3)
    #expect(try await bytes.allKeys().filter { String.isKey($0.rawSpan) }.count == valid)
  }

  @Test(arguments: ["", "k", "k0100+", "k0511+", "k0512+", "k1023+", "z"], DiskLayout.both)
  func `a key of memory comes at its place among the records of several chunks`(
    key: String, layout: DiskLayout
  ) async throws {
    let fixture = try EnumerationFixture(layout)
    let cache = fixture.cache
    // Three chunks of 512 records, and a part of the next one.
    let keys = (0..<1_600).map { number in
      let digits = "\(number)"
      return "k" + String(repeating: "0", count: 4 - digits.count) + digits
    }
    for key in keys { cache[key] = [1] }
    try await fixture.moveToDisk()
    // Another key of memory is behind the chunk with the first one, which lacks some staged removals.
    for key in [key, "k1580+"] { cache[key] = [2] }
    for key in keys[3..<9] { cache[key] = nil }
    let expected = fixture.inOrder(keys[..<3] + keys[9...] + [key, "k1580+"])
    #expect(layout == .dense || expected == expected.sorted())
    #expect(try await cache.allKeys() == expected)
    #expect(try await cache.keyCount() == expected.count)
    var entries: [String] = []
    for try await entry in cache.entries() { entries.append(entry.key) }
    #expect(entries == expected)
    // The key has a record, too.
    try await fixture.store.flush()
    #expect(try await cache.allKeys() == expected)
    #expect(try cache.pagedKeys(limit: 700) == expected)
  }

  @Test(arguments: DiskLayout.both)
  func `a selection by prefix contains long keys, which follow all others in an ordered file`(
    layout: DiskLayout
  ) async throws {
    let fixture = try EnumerationFixture(layout)
    let cache = fixture.cache
    let long = (0..<3).map { "a/\($0)" + String(repeating: "x", count: 90) }
    for key in ["a/1", "a", "b", "c"] + long + ["b" + String(repeating: "y", count: 90)] { cache[key] = [1] }
    for isOnDisk in [false, true] {
      if isOnDisk { try await fixture.moveToDisk() }
      let found = try await cache.allKeys(.withPrefix("a/"))
      #expect(layout == .dense || found.first == "a/1")
      #expect(found == fixture.inOrder(found))
      #expect(Set(found) == Set(["a/1"] + long) && found.count == 4)
      #expect(try cache.pagedKeys(limit: 1, of: .withPrefix("a/")) == found)
      #expect(try await cache.keyCount(.withPrefix("a/")) == 4)
    }
  }
}
