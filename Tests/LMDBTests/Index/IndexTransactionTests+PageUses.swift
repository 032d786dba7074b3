import CisternTesting
import Testing

@testable import LMDB

// The uses of pages that a write transaction finds in the mapped pages.

extension IndexTransactionTests {
  private var keys: [IndexKey] { [IndexKey(1), IndexKey(2), IndexKey(40)] }

  private func uses() throws -> PageUses {
    let uses = try change { (transaction) throws(LMDBError) in
      transaction.transaction.committedPageUses(of: keys, in: index)
    }
    return try #require(uses)
  }

  /// Inserts or removes items, and stores or removes a value of several pages.
  private func changeSome(_ round: Int, _ generator: inout SeededGenerator) throws {
    var random = generator
    defer { generator = random }
    try change { (transaction) throws(LMDBError) in
      for _ in 0..<400 {
        let key = keys[Int.random(in: 0..<2, using: &random)]
        let digest = UInt64.random(in: 0...IndexItem.greatestDigest, using: &random)
        if round % 3 == 2, try transaction.move(toFirstFrom: digest, forKey: key) {
          try transaction.removeCurrent()
        } else {
          try transaction.insert(IndexItem(digest: digest, address: digest | 1), forKey: key)
        }
      }
      try transaction.insert(IndexItem(digest: UInt64(round), address: 1), forKey: keys[2])
      let number = UInt.random(in: 0..<20, using: &random)
      if round % 2 == 0 {
        let bytes = [UInt8](repeating: 1, count: Int.random(in: 3000...60_000, using: &random))
        try transaction.transaction.put(bytes.rawSpan, forKey: number, in: table)
      } else {
        try transaction.transaction.removeValue(forKey: number, in: table)
      }
    }
  }

  @Test func `each page has one use`() throws {
    var generator = SeededGenerator(seed: 3)
    for round in 0..<40 {
      try changeSome(round, &generator)
      // Teaches the place of the pages.
      try fixture.environment.withRead { (transaction) throws(LMDBError) in
        _ = try transaction.firstAddress(of: 1, forKey: keys[0], in: index) { (_) throws(LMDBError) in true }
      }
      let uses = try uses()
      let items = uses.items.map(\.page)
      #expect(Set(uses.free).union(items).count == uses.free.count + items.count)
      #expect((uses.free + items).allSatisfy { $0 > 1 && $0 <= uses.lastPage })
      let trees = try fixture.environment.withRead { (transaction) throws(LMDBError) in
        var count = try transaction.statistics(of: index).pageCount + transaction.statistics(of: table).pageCount
        count += try transaction.statistics(of: .main).pageCount + transaction.statistics(of: .freeList).pageCount
        return count
      }
      #expect(uses.lastPage + 1 == 2 + uses.free.count + items.count + trees)
    }
    #expect(try uses().items.count > 20 && uses().free.count > 20)
  }

  @Test func `the digest of a page leads to an item whose replacement moves the page`() throws {
    var generator = SeededGenerator(seed: 4)
    for round in 0..<40 { try changeSome(round, &generator) }
    try fixture.environment.withRead { (transaction) throws(LMDBError) in
      _ = try transaction.firstAddress(of: 1, forKey: keys[0], in: index) { (_) throws(LMDBError) in true }
    }
    var moved = 0
    for _ in 0..<60 {
      let item = try #require(try uses().items.randomElement(using: &generator))
      try change { (transaction) throws(LMDBError) in
        guard try transaction.move(toFirstFrom: item.digest, forKey: item.key), let found = transaction.item else {
          return
        }
        try transaction.replaceAddress(with: found.address)
      }
      if try !uses().items.contains(where: { $0.page == item.page }) { moved += 1 }
    }
    // Items with equal digests can begin in the page before.
    #expect(moved > 55)
  }

  @Test func `an empty file and unknown keys have no pages of items`() throws {
    try change { (transaction) throws(LMDBError) in
      let bytes = [UInt8](repeating: 1, count: 9000)
      try transaction.transaction.put(bytes.rawSpan, forKey: 1, in: table)
    }
    _ = try fixture.environment.withRead { (transaction) throws(LMDBError) in
      try transaction.place(ofValueForKey: 1, in: table)
    }
    let uses = try uses()
    #expect(uses.items == [])
    #expect(Set(uses.free).count == uses.free.count)
  }
}
