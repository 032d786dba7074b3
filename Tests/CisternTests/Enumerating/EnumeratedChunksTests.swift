import Cistern
import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Enumerations of records that lie on disk alone, and of more records than one transaction reads.
@Suite struct EnumeratedChunksTests {
  @Test func `keys of stale values that lie on disk alone do not appear, and their entries do`() async throws {
    let fixture = try EnumerationFixture(expiry: .after(.seconds(60), graceStale: .seconds(60)))
    let cache = fixture.cache
    for number in 0..<3 { cache["early \(number)"] = [1] }
    try await fixture.store.flush()
    fixture.clock.advance(by: .seconds(40))
    cache["late"] = [2]
    try await fixture.moveToDisk()
    #expect(try await cache.keyCount() == 4)
    fixture.clock.advance(by: .seconds(30))
    #expect(try await cache.allKeys() == ["late"])
    #expect(try await cache.keyCount() == 1)
    #expect(try cache.page().entries.map(\.isStale) == [true, true, true, false])
    fixture.clock.advance(by: .seconds(60))
    #expect(try await cache.keyCount() == 0)
    #expect(try cache.page().entries.map(\.key) == ["late"])
  }

  @Test(arguments: ["", "k", "k0100+", "k0511+", "k0512+", "k1023+", "z"])
  func `a key of memory comes at its place among the records of several chunks`(key: String) async throws {
    let fixture = try EnumerationFixture()
    let cache = fixture.cache
    // Three chunks of 512 records, and a part of the next one.
    let keys = (0..<1_600).map { number in
      let digits = "\(number)"
      return "k" + String(repeating: "0", count: 4 - digits.count) + digits
    }
    for key in keys { cache[key] = [1] }
    try await fixture.moveToDisk()
    cache[key] = [2]
    let expected = (keys + [key]).sorted()
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

  @Test func `a selection by prefix contains long keys, which follow the keys with other prefixes`() async throws {
    let fixture = try EnumerationFixture()
    let cache = fixture.cache
    let long = (0..<3).map { "a/\($0)" + String(repeating: "x", count: 90) }
    for key in ["a/1", "a", "b", "c"] + long + ["b" + String(repeating: "y", count: 90)] { cache[key] = [1] }
    for isOnDisk in [false, true] {
      if isOnDisk { try await fixture.moveToDisk() }
      let found = try await cache.allKeys(.withPrefix("a/"))
      #expect(found.first == "a/1")
      #expect(Set(found) == Set(["a/1"] + long) && found.count == 4)
      #expect(try cache.pagedKeys(limit: 1, of: .withPrefix("a/")) == found)
      #expect(try await cache.keyCount(.withPrefix("a/")) == 4)
    }
  }
}
