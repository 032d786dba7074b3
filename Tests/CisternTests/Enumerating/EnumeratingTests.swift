import Cistern
import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Enumerations of quiet caches: which entries they return, in which order, and with which data.
@Suite struct EnumeratingTests {
  @Test(arguments: DiskLayout.both)
  func `keys of both tiers come once, in the order of the file`(layout: DiskLayout) async throws {
    let fixture = try EnumerationFixture(layout)
    let cache = fixture.cache
    for key in ["b", "d", "é", ""] { cache[key] = [1] }
    try await fixture.moveToDisk()
    _ = cache["d"]
    for key in ["a", "c"] { cache[key] = [2] }
    try await fixture.store.flush()
    cache["e"] = [3]
    cache.trim(toCost: 0)
    cache["d"] = [4]
    let keys = ["", "a", "b", "c", "d", "e", "é"]
    let expected = fixture.inOrder(keys)
    #expect(layout == .dense || expected == keys)
    #expect(try await cache.allKeys() == expected)
    for limit in 1...8 { #expect(try cache.pagedKeys(limit: limit) == expected, "limit \(limit)") }
    #expect(try await cache.keyCount() == 7)
  }

  @Test func `a cache in memory only has the same order`() async throws {
    let cache = try Cache<Int, Int>(costLimit: 100)
    for key in [3, -1, 0, 300, -70_000] { cache[key] = key }
    #expect(try await cache.allKeys() == [-70_000, -1, 0, 3, 300])
    for limit in 1...6 { #expect(try cache.pagedKeys(limit: limit) == [-70_000, -1, 0, 3, 300]) }
    let page = try cache.page(limit: 2)
    #expect(page.entries.map(\.key) == [-70_000, -1])
    #expect(page.entries.first?.residency == .memory)
    #expect(page.entries.first?.value() == -70_000)
  }

  @Test(arguments: DiskLayout.both)
  func `an entry has the data of its value, and reads it on demand without a promotion`(
    layout: DiskLayout
  ) async throws {
    let fixture = try EnumerationFixture(layout, expiry: .after(.seconds(60), graceStale: .seconds(60)))
    let cache = fixture.cache
    cache.setValue([1, 2, 3], forKey: "disk", tags: ["x"])
    try await fixture.moveToDisk()
    fixture.clock.advance(by: .seconds(20))
    cache["memory"] = [4]
    var entries = try cache.page().entries.sorted { $0.key < $1.key }
    #expect(entries.map(\.key) == ["disk", "memory"])
    #expect(entries[0].residency == .secondTier && entries[1].residency == [.memory, .secondTier])
    #expect(entries[0].age == .seconds(20) && entries[0].remainingLifetime == .seconds(40))
    #expect(entries[0].tags == ["x"] && entries[1].tags == [] && entries[0].cost >= 3)
    #expect(entries[1].remainingLifetime == .seconds(60))
    #expect(entries[0].value() == [1, 2, 3])
    #expect(!cache.isInMemory("disk"))
    fixture.clock.advance(by: .seconds(50))
    entries = try cache.page().entries.sorted { $0.key < $1.key }
    #expect(entries.map(\.isStale) == [true, false])
    #expect(entries[0].remainingLifetime == .seconds(-10))
    #expect(try await cache.allKeys() == ["memory"])
    fixture.clock.advance(by: .seconds(60))
    #expect(try cache.page().entries.map(\.key) == ["memory"])
    #expect(entries[0].value() == nil)
  }

  @Test(arguments: [false, true], DiskLayout.both)
  func `removed, invalidated and cleared keys do not appear`(isCommitted: Bool, layout: DiskLayout) async throws {
    let fixture = try EnumerationFixture(layout)
    let cache = fixture.cache
    for number in 0..<4 { cache.setValue([1], forKey: "tag/\(number)", tags: ["t"]) }
    for key in ["a", "p/1", "p/2", "z"] { cache[key] = [1] }
    try await fixture.moveToDisk()
    cache["a"] = nil
    cache.removeAll(tagged: "t")
    cache.removeAll(withPrefix: "p/")
    cache["p/3"] = [2]
    if isCommitted { try await fixture.store.flush() }
    #expect(try await cache.allKeys().sorted() == ["p/3", "z"])
    cache.removeAll()
    cache["n"] = [1]
    if isCommitted { try await fixture.store.flush() }
    #expect(try await cache.allKeys() == ["n"])
  }

  @Test(arguments: DiskLayout.both)
  func `unconfirmed edits show and hide keys`(layout: DiskLayout) async throws {
    let fixture = try EnumerationFixture(layout)
    let cache = fixture.cache
    cache["kept"] = [1]
    cache["removed"] = [1]
    try await fixture.moveToDisk()
    // The edits are unconfirmed while the innermost closure runs.
    try await cache.editValue(forKey: "added") { _ in
      [2]
    } confirmedBy: {
      try await cache.editValue(forKey: "removed") { _ in
        nil
      } confirmedBy: { () async throws -> [UInt8]? in
        #expect(try await cache.allKeys().sorted() == ["added", "kept"])
        cache.trim(toCost: 0)
        #expect(try await cache.allKeys().sorted() == ["added", "kept"])
        return nil
      }
    }
  }

  @Test(arguments: DiskLayout.both)
  func `an entry with an edit of a stale value is fresh, also after an eviction from memory`(
    layout: DiskLayout
  ) async throws {
    let fixture = try EnumerationFixture(layout, expiry: .after(.seconds(60), graceStale: .seconds(60)))
    let cache = fixture.cache
    cache.setValue([1], forKey: "edited", tags: ["t"])
    try await fixture.moveToDisk()
    fixture.clock.advance(by: .seconds(70))
    // The edit is unconfirmed while the closure runs.
    try await cache.editValue(forKey: "edited") { _ in
      [2]
    } confirmedBy: { () async throws -> [UInt8]? in
      for isEvicted in [false, true] {
        if isEvicted { cache.trim(toCost: 0) }
        let entries = try cache.page().entries
        #expect(entries.map(\.isStale) == [false] && entries.first?.tags == ["t"])
        #expect(entries.first?.remainingLifetime == nil)
        #expect(try await cache.allKeys() == ["edited"])
        #expect(try await cache.keyCount() == 1)
      }
      return nil
    }
  }

  @Test func `a selection by prefix compares bytes up to the greatest one`() async throws {
    let scratch = TemporaryDirectory()
    let store = try Store(directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(8))
    let cache = try store.cache("cache", of: [UInt8].self, keyedBy: [UInt8].self)
    let keys: [[UInt8]] = [
      [], [0], [0xFE, 0xFF], [0xFF], [0xFF, 0], [0xFF, 0xFF], [0xFF, 0xFF, 0xFF],
      [0xFF] + Array(repeating: 7, count: 90),
    ]
    for key in keys { cache[key] = [1] }
    for isOnDisk in [false, true] {
      if isOnDisk {
        try await store.flush()
        cache.trim(toCost: 0)
      }
      for prefix: [UInt8] in [[], [0], [0xFE], [0xFF], [0xFF, 0xFF], [1], Array(repeating: 0xFF, count: 80)] {
        let found = try await cache.allKeys(.withPrefix(KeyPrefix(bytes: prefix)))
        #expect(Set(found) == Set(keys.filter { $0.starts(with: prefix) }), "\(prefix)")
        #expect(found.count == Set(found).count)
        #expect(try cache.pagedKeys(limit: 1, of: .withPrefix(KeyPrefix(bytes: prefix))) == found)
      }
    }
  }

  @Test func `long keys come last in an ordered file, each once`() async throws {
    let fixture = try EnumerationFixture(.ordered)
    let long = (0..<20).map { String(repeating: "l", count: 65 + $0) }
    for key in long { fixture.cache[key] = [1] }
    try await fixture.moveToDisk()
    for key in long.prefix(5) { fixture.cache[key] = [2] }
    fixture.cache["z"] = [1]
    fixture.cache[String(repeating: "l", count: 64)] = [1]
    for limit in [1, 3, 100] {
      let keys = try fixture.cache.pagedKeys(limit: limit)
      #expect(keys.prefix(2) == [String(repeating: "l", count: 64), "z"])
      #expect(keys.dropFirst(2).sorted() == long.sorted())
    }
    #expect(try await fixture.cache.allKeys(.withPrefix("ll")).count == 21)
  }

  @Test(arguments: DiskLayout.both)
  func `a selection by tag returns the tagged entries of both tiers`(layout: DiskLayout) async throws {
    let fixture = try EnumerationFixture(layout)
    for number in 0..<2000 { fixture.cache.setValue([1], forKey: "k\(number)", tags: number % 500 == 0 ? ["t"] : []) }
    try await fixture.moveToDisk()
    fixture.cache.setValue([1], forKey: "new", tags: ["t", "u"])
    let tagged = fixture.inOrder(["k0", "k1000", "k1500", "k500", "new"])
    #expect(try await fixture.cache.allKeys(.tagged("t")) == tagged)
    let selected = try fixture.cache.pagedKeys(limit: 7, of: .withPrefix("k1").tagged("t"))
    #expect(selected == fixture.inOrder(["k1000", "k1500"]))
    #expect(try await fixture.cache.keyCount(.tagged("u")) == 1)
  }

  @Test(arguments: DiskLayout.both)
  func `a cursor stays valid across writes, and in another opening`(layout: DiskLayout) async throws {
    let fixture = try EnumerationFixture(layout)
    for key in ["a", "b", "c", "d"] { fixture.cache[key] = [1] }
    let first = try fixture.cache.page(limit: 2)
    let cursor = try #require(first.next.flatMap { EntryCursor(bytes: $0.bytes) })
    let visited = first.entries.map(\.key)
    #expect(visited == Array(fixture.inOrder(["a", "b", "c", "d"]).prefix(2)))
    fixture.cache[visited[1]] = nil
    fixture.cache["bb"] = [1]
    fixture.cache["aa"] = [1]
    let rest = fixture.keys(of: ["a", "aa", "b", "bb", "c", "d"], after: visited[1])
    #expect(layout == .dense || rest == ["bb", "c", "d"])
    #expect(try fixture.cache.page(after: cursor, limit: 9).entries.map(\.key) == rest)
    #expect(EntryCursor(bytes: []) == nil)
    try await fixture.store.close()
    let store = try Store(directory: fixture.scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(32))
    let again = try store.cache("cache", of: [UInt8].self, keyedBy: String.self)
    #expect(try again.page(after: cursor, limit: 9).entries.map(\.key) == rest)
  }

  @Test(arguments: DiskLayout.both)
  func `an enumeration of a closed store throws`(layout: DiskLayout) async throws {
    let fixture = try EnumerationFixture(layout)
    fixture.cache["a"] = [1]
    try await fixture.store.close()
    let error = await #expect(throws: CisternError.self) { try await fixture.cache.allKeys() }
    #expect(error?.code == .storeClosed)
  }

  @Test(arguments: DiskLayout.both)
  func `a read-only store is enumerated`(layout: DiskLayout) async throws {
    let fixture = try EnumerationFixture(layout)
    fixture.cache["a"] = [1]
    try await fixture.store.close()
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.isReadOnly = true
    let store = try Store(
      directory: fixture.scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(32),
      configuration: configuration)
    let cache = try store.cache("cache", of: [UInt8].self, keyedBy: String.self)
    #expect(try await cache.allKeys() == ["a"])
    let other = try store.cache("other", of: [UInt8].self, keyedBy: String.self)
    #expect(try await other.allKeys() == [])
  }

  @Test func `records of newer schema versions do not appear, and those of older ones need a migration`() async throws {
    let scratch = TemporaryDirectory()
    func open(_ schema: CacheSchema<[UInt8]>?) throws -> (Store, Cache<String, [UInt8]>) {
      let store = try Store(directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(8))
      var settings = CacheConfiguration<[UInt8]>()
      settings.schema = schema
      return (store, try store.cache("cache", of: [UInt8].self, keyedBy: String.self, configuration: settings))
    }
    let migrating = CacheSchema<[UInt8]>(version: 1) { bytes, _ in bytes }
    let (first, plain) = try open(nil)
    plain["old"] = [1]
    try await first.close()
    let (second, migrated) = try open(migrating)
    migrated["new"] = [2]
    #expect(try await migrated.allKeys() == ["new", "old"])
    try await second.close()
    let (third, older) = try open(nil)
    #expect(try await older.allKeys() == ["old"])
    try await third.close()
  }

  @Test func `a custom tier is enumerated in order`() async throws {
    let tier = FaultInjectingTier()
    let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1))
    let cache = try store.cache("cache", of: [UInt8].self, keyedBy: String.self)
    for number in 0..<600 { cache["\(number)"] = [1] }
    try await store.flush()
    cache.trim(toCost: 0)
    cache["memory"] = [1]
    #expect(try await cache.allKeys() == (0..<600).map { "\($0)" }.sorted() + ["memory"])
    #expect(try cache.pagedKeys(limit: 100).count == 601)
  }

  @Test(arguments: ["purge", "clear", "replace"], DiskLayout.both)
  func `another process's writes are seen`(work: String, layout: DiskLayout) async throws {
    let fixture = try EnumerationFixture(layout)
    for number in 0..<600 { fixture.cache.setValue([1], forKey: "key-\(number)", tags: number == 3 ? ["gone"] : []) }
    try await fixture.moveToDisk()
    let first = try fixture.cache.page(limit: 1)
    let visited = try #require(first.entries.first?.key)
    #expect(visited == fixture.inOrder((0..<600).map { "key-\($0)" }).first)
    let child = try ChildProcess(
      work, fixture.scratch.store, "\(32 << 20)", "processCrash", "layout=\(layout.rawValue)")
    _ = child.readLine()
    let keys = try await fixture.cache.allKeys()
    switch work {
    case "purge": #expect(keys.count == 599 && !keys.contains("key-3"))
    case "clear": #expect(keys == ["key-1"])
    default: #expect(keys.count == 600)
    }
    let rest = try fixture.cache.page(after: first.next, limit: 4096).entries.map(\.key)
    #expect(rest == fixture.keys(of: keys, after: visited))
    _ = child.kill()
  }
}
