import Testing

@testable import LMDB

/// Changes of a value that the same transaction has stored.
@Suite struct NewValueTests {
  private let fixture: Fixture
  private let table: IntegerDatabase
  private static let value = [UInt8](repeating: 1, count: 8_176)

  init() throws {
    fixture = try Fixture()
    table = try fixture.environment.openIntegerDatabase(named: "table")
  }

  private func stored(_ key: UInt) throws -> [UInt8]? {
    let table = table
    return try fixture.environment.withRead { (transaction) throws(LMDBError) in
      [UInt8](copying: try transaction.value(forKey: key, in: table))
    }
  }

  @Test func `a value in separate pages can be changed until the commit`() throws {
    let table = table
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      for key: UInt in [1, 2] { try transaction.put(Self.value.rawSpan, forKey: key, in: table) }
      for (offset, part) in [(0, [9]), (8_174, [7, 8]), (8_176, [])] as [(Int, [UInt8])] {
        let isChanged = try transaction.write(part.rawSpan, at: offset, ofNewValueForKey: 1, in: table)
        #expect(isChanged, "at \(offset)")
      }
      // The changes are readable in the transaction.
      let read = [UInt8](copying: try transaction.value(forKey: 1, in: table))
      #expect(read?.first == 9 && read?.last == 8)
    }
    #expect(try stored(1) == [9] + Self.value.dropFirst(3) + [7, 8])
    #expect(try stored(2) == Self.value)
  }

  @Test func `other values and other parts are not changed`() throws {
    let table = table
    let byte: [UInt8] = [7]
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.put(Self.value.rawSpan, forKey: 1, in: table)
    }
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.put(Self.value.rawSpan, forKey: 2, in: table)
      try transaction.put([1, 2, 3].rawSpan, forKey: 3, in: table)
      for (key, offset) in [(1, 0), (3, 0), (4, 0), (2, -1), (2, 8_176), (2, .max)] as [(UInt, Int)] {
        let isChanged = try transaction.write(byte.rawSpan, at: offset, ofNewValueForKey: key, in: table)
        #expect(!isChanged, "\(key) at \(offset)")
      }
    }
    #expect(try stored(1) == Self.value && stored(2) == Self.value && stored(3) == [1, 2, 3])
  }

  @Test func `an abort discards a changed value`() throws {
    let (environment, table) = (fixture.environment, table)
    let byte: [UInt8] = [7]
    let failure = code { () throws(LMDBError) in
      try environment.withWrite { (transaction) throws(LMDBError) in
        try transaction.put(Self.value.rawSpan, forKey: 1, in: table)
        _ = try transaction.write(byte.rawSpan, at: 0, ofNewValueForKey: 1, in: table)
        throw LMDBError(.busy, operation: "test", message: "on purpose")
      }
    }
    #expect(failure == .busy)
    #expect(try stored(1) == nil)
  }
}
