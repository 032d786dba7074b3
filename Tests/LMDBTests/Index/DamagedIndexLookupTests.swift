import CisternTesting
import Testing

@testable import LMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A lookup reads no byte outside of the pages that it checked, regardless of their contents.
@Suite struct DamagedIndexLookupTests {
  /// Pages of a file in memory, between two inaccessible pages.
  @unsafe
  private final class Memory {
    let start: UnsafeMutableRawPointer
    let count: Int
    private let pageSize = DataFileImage.pageSize

    init(_ bytes: [UInt8]) throws {
      unsafe count = bytes.count
      let whole = unsafe bytes.count + 2 * pageSize
      let area = unsafe try #require(mmap(nil, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0))
      unsafe start = unsafe area + pageSize
      unsafe bytes.withUnsafeBytes { unsafe start.copyMemory(from: $0.baseAddress!, byteCount: count) }
      unsafe mprotect(area, pageSize, PROT_NONE)
      unsafe mprotect(start + count, pageSize, PROT_NONE)
    }

    deinit { unsafe munmap(start - pageSize, count + 2 * pageSize) }

    var pages: MappedPages {
      unsafe MappedPages(start: UnsafeRawPointer(start), shift: UInt64(pageSize.trailingZeroBitCount))
    }

    func setByte(_ offset: Int, _ byte: UInt8) {
      unsafe start.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
    }

    /// Makes all pages but these inaccessible.
    func protect(except pages: Set<Int>) {
      for page in unsafe 0..<count / pageSize where !pages.contains(page) {
        unsafe mprotect(start + page * pageSize, pageSize, PROT_NONE)
      }
    }
  }

  private let name = ShortKey("index")!
  /// A page has room for this number of items.
  private static let mostItems = (DataFileImage.pageSize - 16) / 12

  /// Looks up a digest, and returns the number of addresses and the last step.
  private func look(
    _ digest: UInt64, _ key: UInt64, _ name: ShortKey, _ pages: MappedPages, _ snapshot: UInt64
  ) -> (count: Int, last: MappedItems.Step) {
    var items = unsafe pages.items(of: digest, key: IndexKey(key), in: name, snapshot: snapshot)
    var count = 0
    while true {
      let step = unsafe items.step()
      guard case .address = step, count < 10_000 else { return (count, step) }
      count += 1
    }
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `damaged pages never lead a lookup outside of the pages`(seed: UInt64) throws {
    let sample = IndexImage.sample
    let memory = unsafe try Memory(sample.image.bytes)
    let snapshot = sample[sample.image.meta + 144, UInt64.self]
    var random = SeededGenerator(seed: seed)
    let leaves = sample.treeLeaves + [sample.onlyLeaf]
    var counts = (found: 0, absent: 0, unknown: 0, most: 0)
    for round in 0..<2_000 {
      let leaf = leaves.randomElement(using: &random) ?? 0
      let offset =
        switch round % 8 {
        case 0: leaf + Int.random(in: 0..<40, using: &random)
        case 1: sample.nested - 14 + Int.random(in: 0..<40, using: &random)
        case 2: sample.treeRoot + Int.random(in: 0..<4_096, using: &random)
        case 3: sample.treeRecord - 14 + Int.random(in: 0..<62, using: &random)
        case 4: (sample.nodes(flags: 0).randomElement(using: &random) ?? 0) + Int.random(in: 0..<14, using: &random)
        case 5: sample.record - 14 + Int.random(in: 0..<62, using: &random)
        default: Int.random(in: 8_192..<sample.image.bytes.count, using: &random)
        }
      let byte = [0, 1, 0x0F, 0xFF, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
      unsafe memory.setByte(offset, byte)
      for _ in 0..<10 {
        let key = UInt64.random(in: IndexImage.singleCount - 4...IndexImage.singleCount + 3, using: &random)
        let item = sample.item(Int.random(in: 0..<150, using: &random), of: leaf)
        let bytes = sample.image.bytes[item..<item + 6]
        let result = unsafe look(bytes.reduce(0) { $0 << 8 | UInt64($1) }, key, name, memory.pages, snapshot)
        counts.found += result.count
        counts.most = max(counts.most, result.count)
        if result.last == .end { counts.absent += 1 } else { counts.unknown += 1 }
      }
      // The damage must not become so heavy that lookups end at once.
      if round % 16 == 0 {
        unsafe sample.image.bytes.withUnsafeBytes {
          unsafe memory.start.copyMemory(from: $0.baseAddress!, byteCount: memory.count)
        }
      }
    }
    #expect(counts.most <= 2 * Self.mostItems)
    #expect(counts.found > 100 && counts.absent > 100 && counts.unknown > 100)
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `damaged pages never lead the search for the uses of pages outside of the pages`(seed: UInt64) throws {
    let sample = IndexImage.sample
    let memory = unsafe try Memory(sample.image.bytes)
    let snapshot = sample[sample.image.meta + 144, UInt64.self]
    let keys = [IndexImage.several, IndexImage.oneLeaf, IndexImage.manyLeaves]
    var random = SeededGenerator(seed: seed)
    var counts = (found: 0, unknown: 0)
    for round in 0..<2_000 {
      let freeList = sample.image.page(sample[sample.image.meta + 80, UInt64.self])
      let offset =
        switch round % 6 {
        case 0: freeList + Int.random(in: 0..<4_096, using: &random)
        case 1: sample.treeRoot + Int.random(in: 0..<4_096, using: &random)
        case 2: sample.treeRecord - 14 + Int.random(in: 0..<62, using: &random)
        case 3: sample.image.meta + 40 + Int.random(in: 0..<48, using: &random)
        case 4: sample.record - 14 + Int.random(in: 0..<62, using: &random)
        default: Int.random(in: 8_192..<sample.image.bytes.count, using: &random)
        }
      unsafe memory.setByte(offset, [0, 1, 0x0F, 0xFF].randomElement(using: &random) ?? 0)
      if let uses = unsafe memory.pages.uses(of: keys, in: name, snapshot: snapshot) {
        counts.found += 1
        #expect((uses.free + uses.items.map(\.page)).allSatisfy { $0 > 1 && $0 <= uses.lastPage })
        #expect(uses.free.count <= uses.lastPage && uses.items.count <= uses.lastPage)
      } else {
        counts.unknown += 1
      }
      if round % 4 == 0 {
        unsafe sample.image.bytes.withUnsafeBytes {
          unsafe memory.start.copyMemory(from: $0.baseAddress!, byteCount: memory.count)
        }
      }
    }
    #expect(counts.found > 100 && counts.unknown > 100)
  }

  @Test func `a page that states too many items gives no answer`() throws {
    var sample = IndexImage.sample
    let snapshot = sample[sample.image.meta + 144, UInt64.self]
    let digest = UInt64.max >> 16
    func step(_ key: IndexKey) throws -> MappedItems.Step {
      let memory = unsafe try Memory(sample.image.bytes)
      return unsafe look(digest, key.number, name, memory.pages, snapshot).last
    }
    for key in [IndexImage.several, IndexImage.oneLeaf, IndexImage.manyLeaves] { #expect(try step(key) == .end) }
    for lower in [16, 17, UInt16(18 + 2 * Self.mostItems), 4_094, 4_096, 65_535] as [UInt16] {
      sample[sample.onlyLeaf + 12, UInt16.self] = lower
      sample[sample.treeLeaves.last! + 12, UInt16.self] = lower
      sample[sample.nested + 12, UInt16.self] = lower
      for key in [IndexImage.several, IndexImage.oneLeaf, IndexImage.manyLeaves] { #expect(try step(key) == .unknown) }
    }
  }

  @Test func `a short key at the end of a page is compared without reading the next page`() throws {
    let fixture = try Fixture()
    let main = fixture.environment.mainDatabase
    let nothing: [UInt8] = []
    for key in ["f", "k", "p"] {
      try fixture.environment.withWrite { (transaction) throws(LMDBError) in
        try transaction.put(nothing.rawSpan, forKey: Array(key.utf8).rawSpan, in: main)
      }
    }
    let image = DataFileImage(bytes: contents(of: fixture.directory.path + "/data.mdb"))
    let memory = unsafe try Memory(image.bytes)
    unsafe memory.protect(except: [0, 1, image.mainRoot / DataFileImage.pageSize])
    let snapshot = image[image.meta + 144, UInt64.self]
    let last = try ["a", "f", "ff", "g", "k", "l", "p", "pp", "\u{1}"].map { name in
      unsafe look(1, 1, try #require(ShortKey(name)), memory.pages, snapshot).last
    }
    // A name that belongs to no index gives no answer.
    #expect(last == [.end, .unknown, .end, .end, .unknown, .end, .unknown, .end, .end])
  }
}
