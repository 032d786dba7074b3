import LMDB
import Testing

@Suite struct CursorTests {
  @Test func `entries come in the order of their keys in both directions`() throws {
    let fixture = try Fixture()
    let table = try fixture.environment.openDatabase(named: "table")
    let keys: [[UInt8]] = [[3], [1], [2, 0], [2]]
    for key in keys { try fixture.write(key + [9], key, in: table) }
    let sorted: [[UInt8]] = [[1], [2], [2, 0], [3]]
    try fixture.environment.withRead { (transaction) throws(LMDBError) in
      var cursor = try transaction.cursor(in: table)
      let isAtEntry = cursor.isAtEntry
      #expect(!isAtEntry)
      var found: [[UInt8]] = []
      while try cursor.moveToNext() {
        let key = [UInt8](copying: cursor.key)
        let value = [UInt8](copying: cursor.value)
        #expect(value == key.map { $0 + [9] })
        found.append(key ?? [])
      }
      #expect(found == sorted)
      var backwards: [[UInt8]] = []
      var isThere = try cursor.moveToLast()
      while isThere {
        backwards.append([UInt8](copying: cursor.key) ?? [])
        isThere = try cursor.moveToPrevious()
      }
      #expect(backwards == sorted.reversed())
    }
  }

  @Test func `a seek finds the key, or the first key after it`() throws {
    let fixture = try Fixture()
    let table = try fixture.environment.openDatabase(named: "table")
    for key: [UInt8] in [[1], [3], [5]] { try fixture.write(key, key, in: table) }
    try fixture.environment.withRead { (transaction) throws(LMDBError) in
      var cursor = try transaction.cursor(in: table)
      for (sought, exact, from): ([UInt8], [UInt8]?, [UInt8]?) in [
        ([3], [3], [3]), ([2], nil, [3]), ([6], nil, nil), ([], nil, [1]),
        ([UInt8](repeating: 2, count: 600), nil, [3]),
      ] {
        _ = try cursor.move(to: sought.rawSpan)
        let exactly = [UInt8](copying: cursor.value)
        #expect(exactly == exact)
        _ = try cursor.move(toFirstFrom: sought.rawSpan)
        let after = [UInt8](copying: cursor.value)
        #expect(after == from)
      }
    }
  }

  @Test func `numbers are in numeric order`() throws {
    let fixture = try Fixture()
    let table = try fixture.environment.openIntegerDatabase(named: "table")
    let numbers: [UInt] = [0, 1, 255, 256, 65_536, .max]
    let value: [UInt8] = [1]
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      for number in numbers.reversed() { try transaction.put(value.rawSpan, forKey: number, in: table) }
    }
    try fixture.environment.withRead { (transaction) throws(LMDBError) in
      var cursor = try transaction.cursor(in: table)
      var found: [UInt] = []
      while try cursor.moveToNext() { found.append(cursor.key ?? 7) }
      #expect(found == numbers)
      _ = try cursor.move(toFirstFrom: 257)
      let after = cursor.key
      #expect(after == 65_536)
      let isThere = try cursor.move(to: 257)
      #expect(!isThere)
    }
  }

  @Test func `a cursor continues with the next entry after a removal`() throws {
    let fixture = try Fixture()
    let table = try fixture.environment.openIntegerDatabase(named: "table")
    let value = [UInt8](repeating: 3, count: 500)
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      for number: UInt in 0..<100 { try transaction.put(value.rawSpan, forKey: number, in: table) }
    }
    let kept = try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      do {
        var cursor = try transaction.cursor(in: table)
        while try cursor.moveToNext() {
          guard let key = cursor.key, key % 3 != 0 else { continue }
          try cursor.removeCurrent()
          let isAtEntry = cursor.isAtEntry
          #expect(!isAtEntry)
          let isRemovedTwice = try cursor.removeCurrent()
          #expect(!isRemovedTwice)
        }
      }
      return try transaction.statistics(of: table).entryCount
    }
    #expect(kept == 34)
  }

  @Test func `an empty table has no entries`() throws {
    let fixture = try Fixture()
    let table = try fixture.environment.openDatabase(named: "table")
    try fixture.environment.withRead { (transaction) throws(LMDBError) in
      var cursor = try transaction.cursor(in: table)
      let isThere = (try cursor.moveToFirst(), try cursor.moveToLast(), try cursor.moveToNext())
      #expect(isThere == (false, false, false))
      let key = [UInt8](copying: cursor.key)
      #expect(key == nil)
    }
  }
}
