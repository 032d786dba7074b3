import LMDB
import Testing
import TestDirectories

/// The check covers everything that LMDB relies on: a file with any invalid part is found damaged.
@Suite struct DamagedFileTests {
  typealias Change = @Sendable (inout DataFileImage) -> Void

  static func damage(_ image: DataFileImage, _ change: Change) throws -> DataFileDamage? {
    let directory = TemporaryDirectory()
    #expect(try image.damage(in: directory) == nil)
    var damaged = image
    change(&damaged)
    let isChanged = damaged.bytes != image.bytes
    try #require(isChanged)
    return try damaged.damage(in: directory)
  }

  static let ofTheHead: [String: Change] = [
    "the magic number": { $0[16, UInt32.self] ^= 1 },
    "the version": { $0[20, UInt32.self] = 2 },
    "the second page's magic number": { $0[4096 + 16, UInt32.self] = 0 },
    "a page size that is none": { $0[40, UInt32.self] = 4095 },
    "another page size": { $0[40, UInt32.self] = 8192 },
    "the last page, before others": { $0[$0.meta + 136, UInt64.self] -= 50 },
    "the last page, behind the end": { $0[$0.meta + 136, UInt64.self] += 1 },
    "the last page, beyond all": { $0[$0.meta + 136, UInt64.self] = .max },
    "a transaction of the other page's": { $0[$0.meta + 144, UInt64.self] += 1 },
    "a transaction without end": { $0[$0.meta + 144, UInt64.self] |= 1 << 63 },
    "flags of the main table": { $0[$0.meta + 92, UInt16.self] = 4 },
    "flags of the free list": { $0[$0.meta + 44, UInt16.self] = 0 },
    "the depth": { $0[$0.meta + 94, UInt16.self] += 1 },
    "a depth of none": { $0[$0.meta + 94, UInt16.self] = 0 },
    "a depth beyond LMDB's": { $0[$0.meta + 94, UInt16.self] = 1000 },
    "the count of entries": { $0[$0.meta + 120, UInt64.self] += 1 },
    "the count of leaves": { $0[$0.meta + 104, UInt64.self] -= 1 },
    "no root": { $0[$0.meta + 128, UInt64.self] = .max },
    "a meta page as the root": { $0[$0.meta + 128, UInt64.self] = 1 },
    "the other tree's root": { $0[$0.meta + 128, UInt64.self] = $0[$0.meta + 80, UInt64.self] },
  ]

  static let ofPages: [String: Change] = [
    "another number": { $0[$0.mainRoot, UInt64.self] += 1 },
    "another kind": { $0[$0.mainRoot + 10, UInt16.self] = 2 },
    "an unknown kind": { $0[$0.mainRoot + 10, UInt16.self] |= 0x40 },
    "keys without values": { $0[$0.leaves(below: $0.mainRoot)[0] + 10, UInt16.self] |= 0x20 },
    "no nodes": { $0[$0.leaves(below: $0.mainRoot)[0] + 12, UInt16.self] = 16 },
    "one child": { $0[$0.mainRoot + 12, UInt16.self] = 18 },
    "more nodes than there are": { $0[$0.leaves(below: $0.mainRoot)[1] + 12, UInt16.self] += 2 },
    "half a node": { $0[$0.leaves(below: $0.mainRoot)[1] + 12, UInt16.self] += 1 },
    "nodes beyond the page": { $0[$0.mainRoot + 14, UInt16.self] = 4098 },
    "nodes before their places": { $0[$0.mainRoot + 14, UInt16.self] = 10 },
    "nodes that begin elsewhere": { $0[$0.mainRoot + 14, UInt16.self] += 2 },
    "zeros": { $0.bytes.replaceSubrange($0.mainRoot..<$0.mainRoot + 4096, with: [UInt8](repeating: 0, count: 4096)) },
    "another page": { image in
      let leaves = image.leaves(below: image.mainRoot)
      image.bytes.replaceSubrange(leaves[0]..<leaves[0] + 4096, with: image.bytes[leaves[1]..<leaves[1] + 4096])
    },
  ]

  static let ofNodes: [String: Change] = [
    "a place beyond the page": { $0[$0.mainRoot + 16, UInt16.self] = 4094 },
    "an odd place": { $0[$0.mainRoot + 16, UInt16.self] += 1 },
    "one place for two": { $0[$0.mainRoot + 16, UInt16.self] = $0[$0.mainRoot + 18, UInt16.self] },
    "keys out of order": { image in
      let leaf = image.leaves(below: image.mainRoot).first { image.count($0) > 1 } ?? 0
      let first = image[leaf + 16, UInt16.self]
      image[leaf + 16, UInt16.self] = image[leaf + 18, UInt16.self]
      image[leaf + 18, UInt16.self] = first
    },
    "a leaf's keys before the branch's": { image in
      let leaf = image.leaves(below: image.mainRoot).last ?? 0
      image.bytes[image.node(0, of: leaf) + 8] = 0
    },
    "a longer key": { $0[$0.nodes(flags: 0)[0] + 6, UInt16.self] += 2 },
    "no key": { $0[$0.nodes(flags: 0)[0] + 6, UInt16.self] = 0 },
    "a longer value": { $0[$0.nodes(flags: 0)[0], UInt32.self] += 2 },
    "a value without end": { $0[$0.nodes(flags: 0)[0], UInt32.self] = .max },
    "a table of several values": { $0[$0.nodes(flags: 0)[0] + 4, UInt16.self] = 4 },
    "a table that is none": { $0[$0.nodes(flags: 0)[0] + 4, UInt16.self] = 2 },
    "a child beyond the file": { $0[$0.node(0, of: $0.mainRoot) + 4, UInt16.self] = 0xFFFF },
    "a child that is its parent": { $0[$0.node(0, of: $0.mainRoot), UInt32.self] = UInt32($0.mainRoot / 4096) },
    "a child of two": {
      $0[$0.node(0, of: $0.mainRoot), UInt32.self] = $0[$0.node(1, of: $0.mainRoot), UInt32.self]
    },
  ]

  static let ofReferencedPages: [String: Change] = [
    "a value's page of another number": { $0[$0.overflow(of: $0.nodes(flags: 1)[0]), UInt64.self] += 1 },
    "a value's page of another kind": { $0[$0.overflow(of: $0.nodes(flags: 1)[0]) + 10, UInt16.self] = 2 },
    "a value of too few pages": { $0[$0.overflow(of: $0.nodes(flags: 1)[0]) + 12, UInt32.self] = 0 },
    "a value of others' pages": { $0[$0.overflow(of: $0.nodes(flags: 1)[0]) + 12, UInt32.self] += 20 },
    "a value of all pages and more": { $0[$0.overflow(of: $0.nodes(flags: 1)[0]) + 12, UInt32.self] = .max },
    "a value longer than its pages": { $0[$0.nodes(flags: 1)[0], UInt32.self] += 1 << 24 },
    "a value of another's pages": {
      $0[$0.value(of: $0.nodes(flags: 1)[0]), UInt64.self] = $0[$0.value(of: $0.nodes(flags: 1)[1]), UInt64.self]
    },
    "a table's flags": { $0[$0.value(of: $0.nodes(flags: 2)[0]) + 4, UInt16.self] = 4 },
    "a table's kind of keys": { $0[$0.value(of: $0.nodes(flags: 2)[0]) + 4, UInt16.self] ^= 8 },
    "a table's root": { $0[$0.value(of: $0.nodes(flags: 2)[0]) + 40, UInt64.self] -= 1 },
    "a table's depth": { $0[$0.value(of: $0.nodes(flags: 2)[0]) + 6, UInt16.self] = 33 },
    "a table's count": { $0[$0.value(of: $0.nodes(flags: 2)[0]) + 32, UInt64.self] = 1 << 63 },
  ]

  static let ofFreePages: [String: Change] = [
    "more than there is room for": { $0[$0.freePages, UInt64.self] = 1 << 40 },
    "one that is in use": { $0[$0.freePages + 8, UInt64.self] = UInt64($0.mainRoot / 4096) },
    "one that is in use, in its order": { image in
      let (place, root) = (image.freePages, image.mainRoot)
      let second = image[place + 16, UInt64.self]
      let used = image.leaves(below: root).map { UInt64($0 / 4096) }.first { $0 > second } ?? 0
      image[place + 8, UInt64.self] = used
    },
    "one inside of a long value, in its order": { image in
      let place = image.freePages
      let second = image[place + 16, UInt64.self]
      let values = image.nodes(flags: 1).map { image.overflow(of: $0) }.filter { image[$0 + 12, UInt32.self] > 1 }
      image[place + 8, UInt64.self] = values.map { UInt64($0 / 4096) + 1 }.first { $0 > second } ?? 0
    },
    "one twice": { $0[$0.freePages + 8, UInt64.self] = $0[$0.freePages + 16, UInt64.self] },
    "one beyond the last": { $0[$0.freePages + 8, UInt64.self] = $0.lastPage + 1 },
    "a meta page": { $0[$0.freePages + 8, UInt64.self] = 1 },
    "out of order": { image in
      let place = image.freePages
      let first = image[place + 8, UInt64.self]
      image[place + 8, UInt64.self] = image[place + 16, UInt64.self]
      image[place + 16, UInt64.self] = first
    },
    "of a transaction to come": { image in
      let leaf = image.leaves(below: image.freeRoot).last ?? 0
      image[image.node(image.count(leaf) - 1, of: leaf) + 8, UInt64.self] = 1 << 40
    },
  ]

  @Test(arguments: ofTheHead.keys.sorted())
  func `a damaged header is found`(name: String) throws {
    #expect(try Self.damage(.sample, #require(Self.ofTheHead[name])) != nil)
  }

  @Test(arguments: ofPages.keys.sorted())
  func `a damaged page is found`(name: String) throws {
    #expect(try Self.damage(.sample, #require(Self.ofPages[name])) != nil)
  }

  @Test(arguments: ofNodes.keys.sorted())
  func `a damaged node is found`(name: String) throws {
    #expect(try Self.damage(.sample, #require(Self.ofNodes[name])) != nil)
  }

  @Test(arguments: ofReferencedPages.keys.sorted())
  func `a value or table at a wrong position is found`(name: String) throws {
    #expect(try Self.damage(.sample, #require(Self.ofReferencedPages[name])) != nil)
  }

  @Test(arguments: ofFreePages.keys.sorted())
  func `a damaged list of free pages is found`(name: String) throws {
    #expect(try Self.damage(.sample, #require(Self.ofFreePages[name])) != nil)
  }

  @Test func `a truncated file is found, unless only free pages are missing`() throws {
    let image = DataFileImage.sample
    let directory = TemporaryDirectory()
    var found = 0
    for size in stride(from: 1, to: image.bytes.count, by: 12_345) {
      if try DataFileImage(bytes: Array(image.bytes.prefix(size))).damage(in: directory) != nil { found += 1 }
    }
    #expect(found >= image.bytes.count / 12_345 - 3)
    for size in [1, 151, 152, 4096, 8191] {
      #expect(try DataFileImage(bytes: Array(image.bytes.prefix(size))).damage(in: directory) != nil)
    }
  }

  @Test func `the check ends, and finds damage, for the largest number in each field of the newer meta page`() throws {
    // The fields are those of both trees, the last page and the transaction.
    let directory = TemporaryDirectory()
    for offset in stride(from: 40, to: 152, by: 8) {
      var image = DataFileImage.sample
      image[image.meta + offset, UInt64.self] = 0x7FFF_FFFF_FFFF_FFFF
      #expect(try image.damage(in: directory) != nil, "the field at the offset \(offset)")
    }
  }
}
