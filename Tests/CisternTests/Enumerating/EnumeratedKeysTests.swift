import Cistern
import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Enumerations of keys, which make no entries for chunks that only the disk has.
@Suite struct EnumeratedKeysTests {
  @Test(arguments: [[], [0, 1], [3, 700, 1_499], Array(0..<1_500)], DiskLayout.both)
  func `keys and their number are those of the entries that are not stale`(
    inMemory: [Int], layout: DiskLayout
  ) async throws {
    let fixture = try EnumerationFixture(layout, expiry: .after(.seconds(60), graceStale: .seconds(600)))
    let cache = fixture.cache
    for number in 0..<1_500 {
      let expiry = number % 3 == 0 ? Expiry.after(.seconds(10), graceStale: .seconds(600)) : nil
      cache.setValue([1], forKey: "\(number)", expiry: expiry, tags: number % 5 == 0 ? ["five"] : [])
    }
    try await fixture.moveToDisk()
    fixture.clock.advance(by: .seconds(20))
    for number in inMemory { _ = cache.find("\(number)") }
    #expect(cache.statistics.memory.entryCount == inMemory.count)
    let selections: [(EntrySelection, count: Int)] = [
      (.all, 1_000), (.tagged("five"), 200), (.withPrefix("14"), 75), (.withPrefix("14").tagged("five"), 16),
    ]
    for (selection, count) in selections {
      var expected: [String] = []
      for try await entry in cache.entries(selection) where !entry.isStale { expected.append(entry.key) }
      #expect(expected.count == count)
      #expect(try await cache.allKeys(selection) == expected)
      #expect(try await cache.keyCount(selection) == count)
    }
  }

  @Test(arguments: DiskLayout.both)
  func `a key that is written and evicted again during an enumeration comes once at most`(
    layout: DiskLayout
  ) async throws {
    let fixture = try EnumerationFixture(layout)
    let cache = fixture.cache
    for number in 0..<2_000 { cache["\(number)"] = [1] }
    try await fixture.moveToDisk()
    var seen: Set<String> = []
    var count = 0
    for try await key in cache.keys() {
      #expect(seen.insert(key).inserted, "\(key)")
      count += 1
      if count % 100 == 0 {
        for number in stride(from: 0, to: 2_000, by: 37) { cache["\(number)"] = [2] }
        if count % 200 == 0 { try await fixture.moveToDisk() }
      }
    }
    #expect(seen.count == 2_000)
  }

  @Test func `integers of a store whose memory holds none are counted`() async throws {
    let scratch = TemporaryDirectory()
    let store = try Store(directory: scratch.store, memoryLimit: .bytes(1), diskLimit: .mebibytes(64))
    let cache = try store.cache("values", of: [UInt8].self, keyedBy: Int.self)
    for number in 0..<20_000 { cache.setValue([7, 7], forKey: number) }
    try await store.flush()
    #expect(try await cache.keyCount() == 20_000)
    #expect(try await cache.allKeys().sorted() == Array(0..<20_000))
    try await store.close()
  }
}
