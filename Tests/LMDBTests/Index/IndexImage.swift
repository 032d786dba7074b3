import CisternTesting

@testable import LMDB

/// An image of a file with an index, and the places in it that tests damage.
struct IndexImage {
  /// The number of keys with one item. The nodes of so many keys fill several leaves.
  static let singleCount: UInt64 = 300
  /// The keys with a page of items, with a tree of one leaf, and with a tree of two levels.
  static let several = IndexKey(singleCount)
  static let oneLeaf = IndexKey(singleCount + 1)
  static let manyLeaves = IndexKey(singleCount + 2)

  var image: DataFileImage

  /// An image with all forms of items, with replaced addresses and with free pages.
  static let sample: IndexImage = {
    do {
      let fixture = try Fixture()
      let index = try fixture.environment.openIndexDatabase(named: "index")
      var random = SeededGenerator(seed: 4)
      for key in 0..<singleCount { try insert(1, IndexKey(key), index, fixture, &random) }
      try insert(30, several, index, fixture, &random)
      try insert(300, oneLeaf, index, fixture, &random)
      for _ in 0..<5 { try insert(1_000, manyLeaves, index, fixture, &random) }
      return IndexImage(image: DataFileImage(bytes: contents(of: fixture.directory.path + "/data.mdb")))
    } catch {
      fatalError("the image cannot be made: \(error)")
    }
  }()

  private static func insert(
    _ count: Int, _ key: IndexKey, _ index: IndexDatabase, _ fixture: Fixture, _ random: inout SeededGenerator
  ) throws {
    var generator = random
    defer { random = generator }
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      var cursor = try transaction.cursor(forKey: key, in: index)
      for number in 0..<count {
        // Every third item has one of few digests.
        let isFrequent = number % 3 == 1
        var digest = UInt64.random(in: 0...IndexItem.greatestDigest, using: &generator)
        if isFrequent { digest &= 0xF << 44 }
        let addresses = (0..<2).map { _ in UInt64.random(in: 1...IndexItem.greatestDigest, using: &generator) }
        try cursor.insert(IndexItem(digest: digest, address: addresses[0]))
        guard isFrequent, try cursor.move(toFirstFrom: digest) else { continue }
        try cursor.replaceAddress(with: addresses[1])
      }
    }
  }

  subscript<Number: FixedWidthInteger>(offset: Int, type: Number.Type) -> Number {
    get { image[offset, type] }
    set { image[offset, type] = newValue }
  }

  /// The record of the index.
  var record: Int { image.value(of: image.nodes(flags: 2)[0]) }

  /// The nodes of all keys with these flags: 0 for one item, 4 for a page of items, 6 for a tree.
  func nodes(flags: UInt16) -> [Int] {
    image.leaves(below: image.page(self[record + 40, UInt64.self]))
      .flatMap { leaf in (0..<image.count(leaf)).map { image.node($0, of: leaf) } }
      .filter { self[$0 + 4, UInt16.self] == flags }
  }

  /// The only page of items that is within a leaf.
  var nested: Int { image.value(of: nodes(flags: 4)[0]) }
  var nestedSize: Int { Int(self[nodes(flags: 4)[0], UInt32.self]) }
  /// The record of the tree of one leaf, and its leaf.
  var oneLeafRecord: Int { image.value(of: nodes(flags: 6)[0]) }
  var onlyLeaf: Int { image.page(self[oneLeafRecord + 40, UInt64.self]) }
  /// The record of the tree of two levels, its root, and its leaves.
  var treeRecord: Int { image.value(of: nodes(flags: 6)[1]) }
  var treeRoot: Int { image.page(self[treeRecord + 40, UInt64.self]) }
  var treeLeaves: [Int] { image.leaves(below: treeRoot) }

  /// Returns the offset of an item of a page of items.
  func item(_ index: Int, of page: Int) -> Int { page + 16 + 12 * index }

  func digest(_ index: Int, of page: Int) -> [UInt8] { Array(image.bytes[item(index, of: page)...].prefix(6)) }

  mutating func exchange(_ count: Int, _ first: Int, _ second: Int) {
    for offset in 0..<count { image.bytes.swapAt(first + offset, second + offset) }
  }

  /// Returns the first index in a leaf whose item has the same digest as the next one, or a different one.
  func pair(alike: Bool, in page: Int) -> Int? {
    (0..<image.count(page) - 1).first { (digest($0, of: page) == digest($0 + 1, of: page)) == alike }
  }
}
