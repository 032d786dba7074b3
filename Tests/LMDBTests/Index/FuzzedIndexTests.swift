import CisternTesting
import Testing
import TestDirectories

@testable import LMDB

/// Random damage to an index is either found or harmless.
@Suite struct FuzzedIndexTests {
  /// Changes one to four bytes, mostly in the headers and nodes of pages. The places are those of the sound file.
  private static func damage(_ sample: IndexImage, using random: inout SeededGenerator) -> IndexImage {
    var image = sample
    let pages = sample.image.bytes.count / DataFileImage.pageSize
    let leaf = sample.treeLeaves.randomElement(using: &random) ?? 0
    for _ in 0...Int.random(in: 0..<4, using: &random) {
      let page = Int.random(in: 2..<pages, using: &random) * DataFileImage.pageSize
      let offset =
        switch Int.random(in: 0..<8, using: &random) {
        case 0: sample.record + Int.random(in: 0..<48, using: &random)
        case 1: sample.treeRecord + Int.random(in: -14..<48, using: &random)
        case 2: sample.nested + Int.random(in: -14..<60, using: &random)
        case 3: sample.treeRoot + Int.random(in: 0..<64, using: &random)
        case 4:
          sample.image.node(Int.random(in: 0..<3, using: &random), of: sample.treeRoot)
            + Int.random(in: 0..<20, using: &random)
        case 5: leaf + Int.random(in: 0..<40, using: &random)
        case 6: page + Int.random(in: 0..<32, using: &random)
        default: page + Int.random(in: 0..<DataFileImage.pageSize, using: &random)
        }
      guard image.image.bytes.indices.contains(offset) else { continue }
      image.image.bytes[offset] =
        [0, 1, 0xFF, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
    }
    return image
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `random damage that passes the check does not crash LMDB`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let directory = TemporaryDirectory()
    var (found, passed) = (0, 0)
    for _ in 0..<60 {
      let image = Self.damage(.sample, using: &random)
      if try image.image.damage(in: directory) != nil {
        found += 1
      } else {
        passed += 1
        try use(directory)
      }
    }
    #expect(found > 15 && passed > 3)
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `heavy random damage neither crashes the check nor makes it run for ever`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let directory = TemporaryDirectory()
    var found = 0
    for _ in 0..<30 {
      var image = IndexImage.sample
      for _ in 0..<Int.random(in: 1...300, using: &random) {
        let offset = Int.random(in: 8_192..<image.image.bytes.count, using: &random)
        image.image.bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      }
      if try image.image.damage(in: directory) != nil { found += 1 }
    }
    #expect(found > 10)
  }

  /// Reads everything, then changes and removes everything.
  private func use(_ directory: TemporaryDirectory) throws {
    let environment = try Environment.open(
      directory: directory.path, options: EnvironmentOptions(mapSize: 1 << 25, durability: .noSync))
    defer { _ = code { () throws(LMDBError) in try environment.close() } }
    // LMDB may refuse damage that is harmless.
    _ = code { () throws(LMDBError) in
      let index = try environment.openIndexDatabase(named: "index")
      for number in 0..<IndexImage.singleCount + 3 {
        let key = IndexKey(number)
        let items = try environment.withRead { (transaction) throws(LMDBError) -> [IndexItem] in
          var items: [IndexItem] = []
          var cursor = try transaction.cursor(forKey: key, in: index)
          var isAtItem = try cursor.moveToFirst()
          while isAtItem {
            if let item = cursor.item { items.append(item) }
            isAtItem = try cursor.moveToNext()
          }
          return items
        }
        try environment.withWrite { (transaction) throws(LMDBError) in
          var cursor = try transaction.cursor(forKey: key, in: index)
          for item in items.prefix(400) {
            try cursor.insert(IndexItem(digest: item.digest, address: item.address % 1_000 + 1))
            guard try cursor.move(toFirstFrom: item.digest) else { continue }
            if item.address % 2 == 0 { try cursor.removeCurrent() } else { try cursor.replaceAddress(with: 7) }
          }
        }
        try environment.withWrite { (transaction) throws(LMDBError) in
          var cursor = try transaction.cursor(forKey: key, in: index)
          _ = try cursor.removeFirst(3_000)
        }
      }
    }
  }
}
