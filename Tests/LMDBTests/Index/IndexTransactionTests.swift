import CisternTesting
import Testing

@testable import LMDB

@Suite struct IndexTransactionTests {
  let fixture: Fixture
  let index: IndexDatabase
  let table: IntegerDatabase

  init() throws {
    fixture = try Fixture()
    index = try fixture.environment.openIndexDatabase(named: "index")
    table = try fixture.environment.openIntegerDatabase(named: "table")
  }

  func change<Result>(
    _ body: (inout IndexTransaction) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result {
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      var indexed = IndexTransaction(transaction, index: index)
      do throws(LMDBError) {
        let result = try body(&indexed)
        transaction = indexed.end()
        return result
      } catch {
        transaction = indexed.end()
        throw error
      }
    }
  }

  private func items(_ key: IndexKey) throws(LMDBError) -> [IndexItem] {
    try fixture.environment.withRead { (transaction) throws(LMDBError) in
      var cursor = try transaction.cursor(forKey: key, in: index)
      var found: [IndexItem] = []
      while try found.isEmpty ? cursor.moveToFirst() : cursor.moveToNext() {
        if let item = cursor.item { found.append(item) }
      }
      return found
    }
  }

  @Test func `a position stays at its item while other databases change`() throws {
    let (first, second) = (IndexKey(1), IndexKey(2))
    try change { (transaction) throws(LMDBError) in
      for number in 1...3_000 as ClosedRange<UInt64> {
        try transaction.insert(IndexItem(digest: number, address: number), forKey: number % 2 == 0 ? second : first)
      }
    }
    let value = [UInt8](repeating: 7, count: 6_000)
    try change { (transaction) throws(LMDBError) in
      var isAtItem = try transaction.move(toFirstFrom: 0, forKey: second)
      var number: UInt64 = 2
      while isAtItem, let item = transaction.item {
        #expect(item.digest == number)
        number += 2
        try transaction.transaction.put(value.rawSpan, forKey: UInt(item.digest % 50), in: table)
        if item.digest % 3 == 0 {
          try transaction.removeCurrent()
          try transaction.transaction.removeValue(forKey: UInt(item.digest % 50), in: table)
        } else {
          try transaction.replaceAddress(with: item.address + 10_000)
        }
        isAtItem = try transaction.moveToNext()
      }
      #expect(number == 3_002)
    }
    let expected = (1...1_500).map { $0 * 2 }.filter { $0 % 3 != 0 }.map { UInt64($0) }
    #expect(try items(second) == expected.map { IndexItem(digest: $0, address: $0 + 10_000) })
    #expect(try items(first).count == 1_500)
  }

  @Test func `a transaction without a position changes no item`() throws {
    try change { (transaction) throws(LMDBError) in
      let isMoved = try transaction.moveToNext()
      #expect(!isMoved && transaction.item == nil)
      let results = (try transaction.replaceAddress(with: 3), try transaction.removeCurrent())
      #expect(results == (false, false))
      try transaction.insert(IndexItem(digest: 1, address: 1), forKey: IndexKey(1))
      // An insertion leaves no position, also if there was one.
      let isAtNext = try transaction.moveToNext()
      #expect(!isAtNext && transaction.item == nil)
      let isAtFirst = try transaction.move(toFirstFrom: 0, forKey: IndexKey(1))
      #expect(isAtFirst)
      try transaction.insert(IndexItem(digest: 0, address: 2), forKey: IndexKey(1))
      #expect(transaction.item == nil)
      let isMovedAgain = try transaction.moveToNext()
      #expect(!isMovedAgain)
      // A position among the items of one key says nothing about another key.
      let isFound = try transaction.move(toFirstFrom: 0, forKey: IndexKey(2))
      let isFollowed = try transaction.moveToNext()
      #expect(!isFound && !isFollowed)
    }
    #expect(try items(IndexKey(1)) == [IndexItem(digest: 0, address: 2), IndexItem(digest: 1, address: 1)])
  }

  @Test func `an abort undoes the changes at the position`() throws {
    try change { (transaction) throws(LMDBError) in
      try transaction.insert(IndexItem(digest: 1, address: 1), forKey: IndexKey(1))
    }
    #expect(throws: LMDBError.self) {
      try change { (transaction) throws(LMDBError) in
        _ = try transaction.move(toFirstFrom: 0, forKey: IndexKey(1))
        try transaction.removeCurrent()
        throw LMDBError(.noSpace, operation: "test", message: "the test ends the transaction")
      }
    }
    #expect(try items(IndexKey(1)) == [IndexItem(digest: 1, address: 1)])
  }

  /// The pages that no statistics count: those that only the items of one key use.
  private func uncountedPages() throws -> Int {
    let environment = fixture.environment
    let used = try environment.information().pageCount - environment.freePageCount()
    return try environment.withRead { (transaction) throws(LMDBError) in
      var counted = try 2 + transaction.statistics(of: index).pageCount + transaction.statistics(of: table).pageCount
      counted += try transaction.statistics(of: .main).pageCount + transaction.statistics(of: .freeList).pageCount
      return used - counted
    }
  }

  @Test func `the committed pages of items are those that the statistics do not count`() throws {
    var generator = SeededGenerator(seed: 3)
    let keys = [IndexKey(1), IndexKey(2), IndexKey(40)]
    for round in 0..<30 {
      try change { (transaction) throws(LMDBError) in
        for _ in 0..<600 {
          let key = round < 5 ? keys[0] : keys[Int.random(in: 0..<2, using: &generator)]
          let digest = UInt64.random(in: 0...IndexItem.greatestDigest, using: &generator)
          if round >= 20, try transaction.move(toFirstFrom: digest, forKey: key) {
            try transaction.removeCurrent()
          } else {
            try transaction.insert(IndexItem(digest: digest, address: digest | 1), forKey: key)
          }
        }
        try transaction.insert(IndexItem(digest: UInt64(round), address: 1), forKey: keys[2])
      }
      // Teaches the place of the pages.
      try fixture.environment.withRead { (transaction) throws(LMDBError) in
        _ = try transaction.firstAddress(of: 1, forKey: keys[0], in: index) { (_) throws(LMDBError) in true }
      }
      let uncounted = try uncountedPages()
      try? change { (transaction) throws(LMDBError) in
        // Changes in progress have no effect.
        for number in 1...1_000 as ClosedRange<UInt64> {
          try transaction.insert(IndexItem(digest: number << 30, address: number), forKey: keys[2])
        }
        let counts = keys.map { transaction.transaction.committedPageCount(forKey: $0, in: index) }
        #expect(counts.reduce(0) { $0 + ($1 ?? -1000) } == uncounted)
        #expect(counts[2] == 0 && (round < 5) == (counts[1] == 0))
        #expect(transaction.transaction.committedPageCount(forKey: IndexKey(3), in: index) == 0)
        throw LMDBError(.noSpace, operation: "test", message: "the test ends the transaction")
      }
    }
  }
}
