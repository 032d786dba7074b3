import Testing
import TestDirectories

@testable import LMDB

/// The check covers all forms of the items of an index: a file with any invalid part is found damaged.
@Suite struct DamagedIndexTests {
  typealias Change = @Sendable (inout IndexImage) -> Void

  private static func damage(_ change: Change) throws -> DataFileDamage? {
    var damaged = IndexImage.sample
    change(&damaged)
    let isChanged = damaged.image.bytes != IndexImage.sample.image.bytes
    try #require(isChanged)
    return try damaged.image.damage(in: TemporaryDirectory())
  }

  static let ofRecords: [String: Change] = [
    "an index without sorted items": { $0[$0.record + 4, UInt16.self] = 0x10 },
    "an index with items of any size": { $0[$0.record + 4, UInt16.self] = 0x04 },
    "an index with one value of each key": { $0[$0.record + 4, UInt16.self] = 0 },
    "an index with numbers as keys": { $0[$0.record + 4, UInt16.self] |= 8 },
    "an index with numbers as items": { $0[$0.record + 4, UInt16.self] |= 0x20 },
    "the count of an index": { $0[$0.record + 32, UInt64.self] += 1 },
    "the leaves of an index": { $0[$0.record + 16, UInt64.self] += 1 },
    "a tree without a size": { $0[$0.treeRecord, UInt32.self] = 0 },
    "a tree of other items": { $0[$0.treeRecord, UInt32.self] = 16 },
    "a tree of nodes": { $0[$0.treeRecord + 4, UInt16.self] = 0 },
    "a tree of numbers": { $0[$0.treeRecord + 4, UInt16.self] |= 8 },
    "a tree with more levels": { $0[$0.treeRecord + 6, UInt16.self] += 1 },
    "a tree with fewer levels": { $0[$0.treeRecord + 6, UInt16.self] -= 1 },
    "a tree without levels": { $0[$0.treeRecord + 6, UInt16.self] = 0 },
    "a tree with too many levels": { $0[$0.treeRecord + 6, UInt16.self] = 33 },
    "a tree with another number of branches": { $0[$0.treeRecord + 8, UInt64.self] += 1 },
    "a tree with another number of leaves": { $0[$0.treeRecord + 16, UInt64.self] -= 1 },
    "a tree with overflow pages": { $0[$0.treeRecord + 24, UInt64.self] = 1 },
    "a tree with another number of items": { image in
      // The number of all items is changed too, so that only the tree's own number is wrong.
      image[image.treeRecord + 32, UInt64.self] += 1
      image[image.record + 32, UInt64.self] += 1
    },
    "a tree without pages": { image in
      for place in stride(from: 8, to: 40, by: 8) { image[image.oneLeafRecord + place, UInt64.self] = 0 }
      image[image.oneLeafRecord + 6, UInt16.self] = 0
      image[image.oneLeafRecord + 40, UInt64.self] = .max
      image[image.record + 32, UInt64.self] -= 300
    },
    "a tree of a meta page": { $0[$0.treeRecord + 40, UInt64.self] = 1 },
    "a tree beyond the file": { $0[$0.treeRecord + 40, UInt64.self] = $0.image.lastPage + 1 },
    "a tree of the index": { $0[$0.treeRecord + 40, UInt64.self] = $0[$0.record + 40, UInt64.self] },
    "a tree of another key": { image in
      let (from, to) = (image.oneLeafRecord, image.treeRecord)
      let count = image[from + 32, UInt64.self]
      image[image.record + 32, UInt64.self] -= image[to + 32, UInt64.self] - count
      for place in 0..<48 { image.image.bytes[to + place] = image.image.bytes[from + place] }
    },
  ]

  static let ofNodes: [String: Change] = [
    "one item as a page": { $0[$0.nodes(flags: 0)[3] + 4, UInt16.self] = 4 },
    "one item as a tree": { $0[$0.nodes(flags: 0)[3] + 4, UInt16.self] = 6 },
    "one item as a table": { $0[$0.nodes(flags: 0)[3] + 4, UInt16.self] = 2 },
    "one item with other flags": { $0[$0.nodes(flags: 0)[3] + 4, UInt16.self] = 0x10 },
    "one item of another size": { $0[$0.nodes(flags: 0)[3], UInt32.self] = 11 },
    "a page as one item": { $0[$0.nodes(flags: 4)[0] + 4, UInt16.self] = 0 },
    "a page as a tree": { $0[$0.nodes(flags: 4)[0] + 4, UInt16.self] = 6 },
    "a page as a table": { $0[$0.nodes(flags: 4)[0] + 4, UInt16.self] = 2 },
    "a page of another size": { $0[$0.nodes(flags: 4)[0], UInt32.self] -= 1 },
    "a tree as one item": { $0[$0.nodes(flags: 6)[1] + 4, UInt16.self] = 0 },
    "a tree as a page": { $0[$0.nodes(flags: 6)[1] + 4, UInt16.self] = 4 },
    "a tree as a table": { $0[$0.nodes(flags: 6)[1] + 4, UInt16.self] = 2 },
    "a record of another size": { $0[$0.nodes(flags: 6)[1], UInt32.self] = 47 },
  ]

  static let ofNestedPages: [String: Change] = [
    "nodes instead of items": { $0[$0.nested + 10, UInt16.self] &= ~0x20 },
    "a page of its own": { $0[$0.nested + 10, UInt16.self] &= ~0x40 },
    "no leaf": { $0[$0.nested + 10, UInt16.self] &= ~0x02 },
    "an unknown kind": { $0[$0.nested + 10, UInt16.self] |= 0x80 },
    "items without a size": { $0[$0.nested + 8, UInt16.self] = 0 },
    "items of another size": { $0[$0.nested + 8, UInt16.self] = 8 },
    "no items": { image in
      image[image.record + 32, UInt64.self] -= 30
      image[image.nested + 12, UInt16.self] = 16
      image[image.nested + 14, UInt16.self] = UInt16(image.nestedSize)
    },
    "more items than there are": { $0[$0.nested + 12, UInt16.self] += 2 },
    "half an item": { $0[$0.nested + 12, UInt16.self] += 1 },
    "other free space": { $0[$0.nested + 14, UInt16.self] -= 2 },
    "items beyond the value": { image in
      let count = (image.nestedSize - 16) / 12 + 1
      image[image.record + 32, UInt64.self] += UInt64(count - 30)
      image[image.nested + 12, UInt16.self] = UInt16(16 + 2 * count)
      image[image.nested + 14, UInt16.self] = UInt16(image.nestedSize - 10 * count)
    },
    "items out of order": { image in
      let pair = image.pair(alike: false, in: image.nested) ?? 0
      image.exchange(12, image.item(pair, of: image.nested), image.item(pair + 1, of: image.nested))
    },
    "a last item out of order": { image in
      image.image.bytes[image.item(29, of: image.nested)] = 0
    },
  ]

  static let ofTrees: [String: Change] = [
    "a leaf of another number": { $0[$0.treeLeaves[1], UInt64.self] += 1 },
    "a leaf of nodes": { $0[$0.treeLeaves[1] + 10, UInt16.self] = 0x02 },
    "a leaf as a branch": { $0[$0.treeLeaves[1] + 10, UInt16.self] = 0x01 },
    "a leaf as a nested page": { $0[$0.treeLeaves[1] + 10, UInt16.self] = 0x62 },
    "a leaf of an unfinished transaction": { $0[$0.treeLeaves[1] + 10, UInt16.self] |= 0x10 },
    "a leaf without a size": { $0[$0.treeLeaves[1] + 8, UInt16.self] = 0 },
    "a leaf of other items": { $0[$0.treeLeaves[1] + 8, UInt16.self] = 24 },
    "a leaf with one more item": { $0[$0.treeLeaves[1] + 12, UInt16.self] += 2 },
    "a leaf with half an item": { $0[$0.treeLeaves[1] + 12, UInt16.self] += 1 },
    "a leaf with other free space": { $0[$0.treeLeaves[1] + 14, UInt16.self] += 2 },
    "a leaf with one more item in both numbers": { image in
      image[image.treeLeaves[1] + 12, UInt16.self] += 2
      image[image.treeLeaves[1] + 14, UInt16.self] -= 10
    },
    "a leaf without items": { image in
      let count = UInt64(image.image.count(image.onlyLeaf))
      image[image.onlyLeaf + 12, UInt16.self] = 16
      image[image.onlyLeaf + 14, UInt16.self] = 4096
      image[image.oneLeafRecord + 32, UInt64.self] -= count
      image[image.record + 32, UInt64.self] -= count
    },
    "more items than a page has room for": { image in
      let count = UInt64(image.image.count(image.onlyLeaf))
      image[image.onlyLeaf + 12, UInt16.self] = 16 + 2 * 341
      image[image.onlyLeaf + 14, UInt16.self] = 4096 - 10 * 341
      image[image.oneLeafRecord + 32, UInt64.self] += 341 - count
      image[image.record + 32, UInt64.self] += 341 - count
    },
    "items out of order": { image in
      let leaf = image.treeLeaves[2]
      let pair = image.pair(alike: false, in: leaf) ?? 0
      image.exchange(12, image.item(pair, of: leaf), image.item(pair + 1, of: leaf))
    },
    "an item before its leaf": { $0[$0.item(0, of: $0.treeLeaves[2]), UInt32.self] = 0 },
    "an item after its leaf": { image in
      let leaf = image.treeLeaves[2]
      image[image.item(image.image.count(leaf) - 1, of: leaf), UInt32.self] = .max
    },
    "branch keys out of order": { image in
      let root = image.treeRoot
      image.exchange(12, image.image.node(2, of: root) + 8, image.image.node(3, of: root) + 8)
    },
    "a branch key of another size": { $0[$0.image.node(2, of: $0.treeRoot) + 6, UInt16.self] = 11 },
    "a branch as a leaf": { $0[$0.treeRoot + 10, UInt16.self] = 0x22 },
    "a child of two": { image in
      let root = image.treeRoot
      image[image.image.node(2, of: root), UInt32.self] = image[image.image.node(3, of: root), UInt32.self]
    },
    "a child of another tree": { image in
      let page = UInt32(image.onlyLeaf / 4096)
      image[image.image.node(2, of: image.treeRoot), UInt32.self] = page
    },
    "a child that is its parent": { $0[$0.image.node(2, of: $0.treeRoot), UInt32.self] = UInt32($0.treeRoot / 4096) },
    "a child beyond the file": { $0[$0.image.node(2, of: $0.treeRoot) + 4, UInt16.self] = 1 },
  ]

  static let harmless: [String: Change] = [
    "the number of a nested page": { $0[$0.nested, UInt64.self] = .max },
    "the changed flag of a nested page": { $0[$0.nested + 10, UInt16.self] ^= 0x10 },
    "an address": { $0.image.bytes[$0.item(3, of: $0.treeLeaves[1]) + 6] ^= 0xFF },
    "exchanged items of one digest": { image in
      for leaf in image.treeLeaves {
        guard let pair = image.pair(alike: true, in: leaf) else { continue }
        image.exchange(12, image.item(pair, of: leaf), image.item(pair + 1, of: leaf))
      }
    },
    "an equal digest before and after a branch key": { image in
      let (leaf, next) = (image.treeLeaves[4], image.treeLeaves[5])
      let last = image.item(image.image.count(leaf) - 1, of: leaf)
      for offset in 0..<6 { image.image.bytes[last + offset] = image.image.bytes[image.item(0, of: next) + offset] }
      for offset in 6..<12 { image.image.bytes[last + offset] = 0xFF }
    },
  ]

  @Test func `the sample is sound and has all forms of items`() throws {
    let sample = IndexImage.sample
    #expect(try sample.image.damage(in: TemporaryDirectory()) == nil)
    #expect(sample.nodes(flags: 0).count == Int(IndexImage.singleCount))
    #expect((sample.nodes(flags: 4).count, sample.nodes(flags: 6).count) == (1, 2))
    #expect(sample.image.isBranch(sample.treeRoot) && sample.treeLeaves.count > 15)
    #expect(!sample.image.isBranch(sample.onlyLeaf))
    #expect(sample.treeLeaves.contains { sample.pair(alike: true, in: $0) != nil })
  }

  @Test(arguments: ofRecords.keys.sorted())
  func `a damaged record of an index or a tree is found`(name: String) throws {
    #expect(try Self.damage(#require(Self.ofRecords[name])) != nil)
  }

  @Test(arguments: ofNodes.keys.sorted())
  func `a damaged node of a key is found`(name: String) throws {
    #expect(try Self.damage(#require(Self.ofNodes[name])) != nil)
  }

  @Test(arguments: ofNestedPages.keys.sorted())
  func `a damaged page of items within a leaf is found`(name: String) throws {
    #expect(try Self.damage(#require(Self.ofNestedPages[name])) != nil)
  }

  @Test(arguments: ofTrees.keys.sorted())
  func `a damaged tree of items is found`(name: String) throws {
    #expect(try Self.damage(#require(Self.ofTrees[name])) != nil)
  }

  @Test(arguments: harmless.keys.sorted())
  func `bytes without a meaning for LMDB may have any value`(name: String) throws {
    #expect(try Self.damage(#require(Self.harmless[name])) == nil)
  }
}
