import Cistern
import CisternTestSupport
import CisternTesting
import Testing

/// Stores with a configured layout of the data file.
@Suite struct StoreLayoutTests {
  private let scratch = TemporaryDirectory()
  private let reports = Recorder<StoreReport.Code>()

  private func open(_ layout: DiskLayout?) throws -> Store {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.diskLayout = layout
    configuration.reportHandler = { [reports] in reports.record($0.code) }
    return try Store(
      directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(8), configuration: configuration)
  }

  private func cache(in store: Store) throws -> Cache<String, [UInt8]> {
    var configuration = CacheConfiguration<[UInt8]>()
    configuration.tiers = .secondTierOnly
    return try store.cache("cache", of: [UInt8].self, keyedBy: String.self, configuration: configuration)
  }

  private func keys(of cache: Cache<String, [UInt8]>, _ selection: EntrySelection) async throws -> [String] {
    var keys: [String] = []
    for try await key in cache.keys(selection) { keys.append(key) }
    return keys
  }

  @Test func `a dense file has every key once in enumerations and pages, and removes by prefix and tag`() async throws {
    let store = try open(.dense)
    let cache = try cache(in: store)
    let names = (0..<700).map { "\($0 % 7)/\($0)" }
    for (number, name) in names.enumerated() {
      cache.setValue(
        [UInt8](repeating: UInt8(number % 251), count: 40), forKey: name, tags: number % 2 == 0 ? ["even"] : [])
      // Half of the keys are committed, and the others are staged.
      if number == 350 { try await store.flush() }
    }
    #expect(try await keys(of: cache, .all).sorted() == names.sorted())
    let prefixed = try await keys(of: cache, .withPrefix("3/"))
    #expect(prefixed.sorted() == names.filter { $0.hasPrefix("3/") }.sorted())
    var paged: [String] = []
    var cursor: EntryCursor?
    repeat {
      let page = try cache.page(after: cursor, limit: 9)
      paged += page.entries.map(\.key)
      cursor = page.next
    } while cursor != nil
    #expect(paged.sorted() == names.sorted())
    cache.removeAll(withPrefix: "3/")
    cache.removeAll(tagged: "even")
    let left = names.enumerated().filter { !$0.element.hasPrefix("3/") && $0.offset % 2 == 1 }.map(\.element)
    #expect(try await keys(of: cache, .all).sorted() == left.sorted())
    try await store.flush()
    #expect(try await cache.keyCount() == left.count)
    #expect(try await store.verify().isSound)
    try await store.close()
    #expect(reports.elements == [])
  }

  @Test(arguments: [1, 3, 100])
  func `keys with equal digests that memory and disk hold appear once`(limit: Int) async throws {
    let store = try open(.dense)
    let cache = try store.cache("bytes", of: [UInt8].self, keyedBy: [UInt8].self)
    for (number, key) in EqualDigests.keys.enumerated() {
      cache[key] = [1]
      // One of each two keys is committed first, so that the order on disk and in memory can differ.
      if number % 3 == 0 { try await store.flush() }
    }
    for isCommitted in [false, true] {
      if isCommitted { try await store.flush() }
      var found: [[UInt8]] = []
      var cursor: EntryCursor?
      repeat {
        let page = try cache.page(after: cursor, limit: limit)
        found += page.entries.map(\.key)
        cursor = page.next
      } while cursor != nil
      #expect(found.count == EqualDigests.keys.count && Set(found) == Set(EqualDigests.keys))
      #expect(try await cache.keyCount() == found.count)
    }
    try await store.close()
  }

  @Test(.enabled(if: DiskLayout.tested == .dense))
  func `a new file is dense, and below 4 MiB ordered`() async throws {
    for (limit, order) in [(ByteCount.mebibytes(4), false), (.bytes(4 << 20 - 1), true)] {
      let scratch = TemporaryDirectory()
      let store = try Store(directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: limit)
      let cache = try cache(in: store)
      for number in 0..<100 { cache["\(number)"] = [1] }
      try await store.flush()
      let all = try await keys(of: cache, .all)
      #expect(all.count == 100 && (all == all.sorted()) == order)
      try await store.close()
    }
  }

  @Test func `a configured layout converts the file, and nil keeps it`() async throws {
    for (step, layout) in [DiskLayout.dense, nil, .ordered, nil, .dense].enumerated() {
      let store = try open(layout)
      let cache = try cache(in: store)
      #expect(cache["key"] == (step == 0 ? nil : [1]))
      cache["key"] = [1]
      for number in 0..<40 { cache["\(number)"] = [UInt8(number)] }
      let all = try await keys(of: cache, .all)
      #expect(all.count == 41)
      try await store.close()
    }
    #expect(reports.elements == [])
    let store = try open(.ordered)
    let all = try await keys(of: cache(in: store), .all)
    #expect(all == all.sorted())
    try await store.close()
  }

  @Test func `a limit below 4 MiB is refused with the dense layout, and converts a dense file without one`()
    async throws
  {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.diskLayout = .dense
    let error = #expect(throws: CisternError.self) {
      _ = try Store(
        directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .bytes(4 << 20 - 1),
        configuration: configuration)
    }
    #expect(error?.code == .invalidArgument && error.map { "\($0)" }?.contains("at least 4 MiB") == true)
    var store = try Store(
      directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(4), configuration: configuration)
    for number in 0..<40 { try cache(in: store)["\(number)"] = [UInt8](repeating: UInt8(number), count: 500) }
    try await store.close()
    store = try Store(directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(1))
    let all = try await keys(of: cache(in: store), .all)
    #expect(all.count == 40 && all == all.sorted())
    #expect(try cache(in: store)["7"] == [UInt8](repeating: 7, count: 500))
    try await store.close()
  }

  @Test(arguments: [DiskLayout.dense, .ordered], [true, false])
  func `a store of an open directory shares its file, unless it names another layout`(
    layout: DiskLayout, isNamedFirst: Bool
  ) async throws {
    try await open(layout).close()
    let store = try open(isNamedFirst ? layout : nil)
    try cache(in: store)["key"] = [1]
    for other in [nil, layout] {
      let second = try open(other)
      #expect(try cache(in: second) === cache(in: store))
      try await second.close()
    }
    let different: DiskLayout = layout == .dense ? .ordered : .dense
    let error = #expect(throws: CisternError.self) { _ = try open(different) }
    #expect(error?.code == .conflictingOpen)
    #expect(error?.message.contains("diskLayout is \(layout), not \(different)") == true)
    // The refused opening has changed nothing.
    #expect(try cache(in: open(nil))["key"] == [1])
    try await store.close()
    #expect(reports.elements == [])
  }

  @Test func `a layout that an opening converted to is the layout of the open directory`() async throws {
    try await open(.dense).close()
    let store = try open(.ordered)
    try await open(nil).close()
    #expect(throws: CisternError.self) { _ = try open(.dense) }
    try await store.close()
    try await open(.dense).close()
  }

  @Test func `stores that only read share a directory, whatever layout they name`() async throws {
    try await open(.dense).close()
    func openToRead(_ layout: DiskLayout?) throws -> Store {
      var configuration: Store.Configuration = .ignoringMemoryPressure
      configuration.isReadOnly = true
      configuration.diskLayout = layout
      return try Store(
        directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(8), configuration: configuration)
    }
    let stores = [try openToRead(.ordered), try openToRead(nil), try openToRead(.dense)]
    #expect(try cache(in: stores[0]) === cache(in: stores[2]))
    for store in stores { try await store.close() }
  }
}
