import Testing

@testable import LMDB

@Suite struct IndexCursorTests {
  private let key = IndexKey(0x0102_0304_0506)
  private let fixture: Fixture
  private let index: IndexDatabase

  init() throws {
    fixture = try Fixture()
    index = try fixture.environment.openIndexDatabase(named: "index")
  }

  private func change<Result>(
    _ body: (inout IndexCursor<CursorWrites>) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result {
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      var cursor = try transaction.cursor(forKey: key, in: index)
      return try body(&cursor)
    }
  }

  private func items(_ key: IndexKey, from digest: UInt64 = 0) throws(LMDBError) -> [IndexItem] {
    try fixture.environment.withRead { (transaction) throws(LMDBError) in
      var cursor = try transaction.cursor(forKey: key, in: index)
      var found: [IndexItem] = []
      var isAtItem = try cursor.move(toFirstFrom: digest)
      while isAtItem {
        if let item = cursor.item { found.append(item) }
        isAtItem = try cursor.moveToNext()
      }
      return found
    }
  }

  @Test func `items and keys are big-endian numbers of six bytes`() {
    let item = IndexItem(digest: 0x0102_0304_0506, address: 0x0708_090A_0B0C)
    let bytes = unsafe IndexItem.withBytes(digest: item.digest, address: item.address) { unsafe Array($0) }
    #expect(bytes == Array(1...12))
    #expect(unsafe bytes.withUnsafeBytes { unsafe IndexItem($0) } == item)
    #expect(unsafe bytes[1...].withUnsafeBytes { unsafe IndexItem($0) } == nil)
    #expect(unsafe key.withBytes { unsafe Array($0) } == Array(1...6))
  }

  @Test(arguments: [1, 2, 20, 150, 170, 400, 3_000])
  func `a search finds the first item at or after a digest, for any number of items`(count: UInt64) throws {
    try change { (cursor) throws(LMDBError) in
      for number in 1...count { try cursor.insert(IndexItem(digest: number * 10, address: number)) }
    }
    #expect(try items(key).map(\.address) == Array(1...count))
    try fixture.environment.withRead { (transaction) throws(LMDBError) in
      var cursor = try transaction.cursor(forKey: key, in: index)
      var faults: [UInt64] = []
      for number in 1...count {
        for digest in [number * 10 - 9, number * 10 - 1, number * 10] {
          let isFound = try cursor.move(toFirstFrom: digest)
          if !isFound || cursor.item?.address != number { faults.append(digest) }
        }
        let isFollowed = try cursor.move(toFirstAfter: number * 10)
        if isFollowed != (number < count) || cursor.item?.address != (isFollowed ? number + 1 : nil) {
          faults.append(number)
        }
      }
      #expect(faults == [])
      // A failed search leaves no position. LMDB would move to the first item.
      for digest in [count * 10 + 1, IndexItem.greatestDigest] {
        let isFound = try cursor.move(toFirstFrom: digest)
        let isMoved = try cursor.moveToNext()
        #expect(!isFound && !isMoved && cursor.item == nil)
      }
      let isAfterAll = try cursor.move(toFirstAfter: IndexItem.greatestDigest)
      #expect(!isAfterAll)
    }
  }

  @Test func `a new cursor is at no item, and changes need one`() throws {
    try change { (cursor) throws(LMDBError) in
      try cursor.insert(IndexItem(digest: 1, address: 1))
      try cursor.insert(IndexItem(digest: 2, address: 2))
    }
    try change { (cursor) throws(LMDBError) in
      #expect(cursor.item == nil)
      let results = (try cursor.moveToNext(), try cursor.replaceAddress(with: 3), try cursor.removeCurrent())
      #expect(results == (false, false, false))
    }
    #expect(try items(key).map(\.address) == [1, 2])
  }

  @Test func `the items of a key are independent of those of other keys`() throws {
    for number in [0, 1, 255, 256, IndexItem.greatestDigest] as [UInt64] {
      try fixture.environment.withWrite { (transaction) throws(LMDBError) in
        var cursor = try transaction.cursor(forKey: IndexKey(number), in: index)
        try cursor.insert(IndexItem(digest: 5, address: number / 2 + 1))
        try cursor.insert(IndexItem(digest: IndexItem.greatestDigest, address: 7))
      }
    }
    for number in [0, 1, 255, 256, IndexItem.greatestDigest] as [UInt64] {
      #expect(try items(IndexKey(number)).map(\.address) == [number / 2 + 1, 7])
      #expect(try items(IndexKey(number), from: 6).map(\.address) == [7])
    }
    #expect(try items(IndexKey(2)) == [])
    let counts = try fixture.environment.withRead { (transaction) throws(LMDBError) in
      (
        try transaction.itemCount(forKey: IndexKey(255), in: index),
        try transaction.itemCount(forKey: IndexKey(2), in: index), try transaction.itemCount(in: index)
      )
    }
    #expect(counts == (2, 0, 10))
  }

  @Test(arguments: [1, 2, 150, 1_500])
  func `replaced addresses keep the items findable, even in the reverse order`(count: UInt64) throws {
    try change { (cursor) throws(LMDBError) in
      try cursor.insert(IndexItem(digest: 4, address: 1))
      for number in 1...count { try cursor.insert(IndexItem(digest: 5, address: number)) }
      try cursor.insert(IndexItem(digest: 6, address: 1))
    }
    try change { (cursor) throws(LMDBError) in
      var isAtItem = try cursor.move(toFirstFrom: 5)
      var address = 2 * count
      while isAtItem, cursor.item?.digest == 5 {
        try cursor.replaceAddress(with: 1_000 * address)
        address -= 1
        isAtItem = try cursor.moveToNext()
      }
      // New items among those in reverse order.
      for number in 1...20 as ClosedRange<UInt64> {
        try cursor.insert(IndexItem(digest: 5, address: 1_000 * (count + number * count / 20) + number))
      }
    }
    let found = try items(key, from: 5)
    #expect(found.map(\.digest) == [UInt64](repeating: 5, count: Int(count) + 20) + [6])
    #expect(try items(key, from: 4).first == IndexItem(digest: 4, address: 1))
    let expected = Set((count + 1...2 * count).map { 1_000 * $0 })
      .union((1...20).map { 1_000 * (count + $0 * count / 20) + $0 })
    #expect(Set(found.dropLast().map(\.address)) == expected)
  }

  @Test func `a walk by digests continues in later transactions although items move`() throws {
    try change { (cursor) throws(LMDBError) in
      for number in 1...2_000 as ClosedRange<UInt64> {
        try cursor.insert(IndexItem(digest: number / 3, address: number))
      }
    }
    var position: UInt64?
    var seen: [UInt64] = []
    var isDone = false
    while !isDone {
      try change { (cursor) throws(LMDBError) in
        var isAtItem =
          if let position { try cursor.move(toFirstAfter: position) } else { try cursor.moveToFirst() }
        var rest = 70
        // A step ends after all items of a digest.
        while isAtItem, let item = cursor.item, rest > 0 || item.digest == position {
          if item.address < 10_000 { seen.append(item.address) }
          position = item.digest
          rest -= 1
          if item.address % 2 == 0 {
            try cursor.replaceAddress(with: item.address + 10_000)
          } else if item.address % 3 == 0 {
            try cursor.removeCurrent()
          }
          isAtItem = try cursor.moveToNext()
        }
        isDone = !isAtItem
        // Another writer changes items behind and before the position.
        try cursor.insert(IndexItem(digest: (position ?? 0) / 2, address: 20_000 + UInt64(seen.count)))
      }
    }
    #expect(seen.sorted() == Array(1...2_000))
  }

  @Test func `an index has no other kind of values`() throws {
    let environment = fixture.environment
    #expect(code { () throws(LMDBError) in try environment.openDatabase(named: "index") } == .incompatible)
    #expect(code { () throws(LMDBError) in try environment.openIntegerDatabase(named: "index") } == .incompatible)
    _ = try environment.openDatabase(named: "table")
    #expect(code { () throws(LMDBError) in try environment.openIndexDatabase(named: "table") } == .incompatible)
    #expect(try environment.openIndexDatabase(named: "index") == index)
  }
}
