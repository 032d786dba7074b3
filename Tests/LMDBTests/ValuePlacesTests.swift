import Testing

@testable import LMDB

/// Reads of values that stay in their places.
@Suite struct ValuePlacesTests {
  private static let size = 16_368

  private let fixture: Fixture
  private let table: IntegerDatabase
  private let places: ValuePlaces

  init() throws {
    fixture = try Fixture()
    table = try fixture.environment.openIntegerDatabase(named: "table")
    // 64 slots.
    places = fixture.environment.places(of: table, byteCount: Self.size, capacity: 1)
  }

  private func put(_ byte: UInt8, _ key: UInt, size: Int = size) throws(LMDBError) {
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      let value = [UInt8](repeating: byte, count: size)
      try transaction.put(value.rawSpan, forKey: key, in: table)
    }
  }

  private func bytes(_ key: UInt, from offset: Int = 0) throws(LMDBError) -> [UInt8]? {
    try fixture.environment.withRead { (transaction) throws(LMDBError) in
      [UInt8](copying: try transaction.bytes(ofValueForKey: key, from: offset, at: places))
    }
  }

  @Test func `a value is found before and after its place is learned, from each offset`() throws {
    let keys: [UInt] = [0, 1, 64, 65, 128, PlaceTable.keyLimit - 1, PlaceTable.keyLimit, .max]
    for (number, key) in keys.enumerated() { try put(UInt8(number), key) }
    for _ in 0..<3 {
      for (number, key) in keys.enumerated() {
        for offset in [0, 1, Self.size - 1, Self.size] {
          #expect(try bytes(key, from: offset) == [UInt8](repeating: UInt8(number), count: Self.size - offset))
        }
        #expect(try bytes(key, from: Self.size + 1) == nil && bytes(key, from: -1) == nil)
      }
      #expect(try bytes(2) == nil)
    }
  }

  @Test func `a known place shows the bytes that were written last`() throws {
    try put(1, 7)
    #expect(try bytes(7)?.first == 1)
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.fixedValue(forKey: 7, in: table)?.write([9, 9].rawSpan, at: 100)
    }
    #expect(try bytes(7, from: 99)?.prefix(4) == [1, 9, 9, 1])
  }

  @Test func `a known place needs no look-up, and another key in its slot replaces it`() throws {
    try put(1, 7)
    #expect(try bytes(7)?.first == 1)
    // A removed value shows that the table finds the place. Nothing else uses its pages yet.
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.removeValue(forKey: 7, in: table)
    }
    #expect(try bytes(7)?.first == 1)
    try put(2, 7 + 64)
    #expect(try bytes(7 + 64)?.first == 2)
    #expect(try bytes(7) == nil)
  }

  @Test func `the place of a value of another size is not learned`() throws {
    for size in [3_000, Self.size - 1, Self.size + 1, 50_000] {
      try put(1, 7, size: size)
      #expect(try bytes(7)?.count == size)
      try fixture.environment.withWrite { (transaction) throws(LMDBError) in
        try transaction.removeValue(forKey: 7, in: table)
      }
      #expect(try bytes(7) == nil)
    }
  }

  @Test func `the places of another environment are not used`() throws {
    let other = try Fixture()
    let otherTable = try other.environment.openIntegerDatabase(named: "table")
    #expect(otherTable == table)
    try put(1, 7)
    #expect(try bytes(7)?.first == 1)
    // The other environment reads by its own places, so that its pages are mapped.
    let otherPlaces = other.environment.places(of: otherTable, byteCount: Self.size, capacity: 1)
    try other.environment.withWrite { (transaction) throws(LMDBError) in
      let value = [UInt8](repeating: 2, count: Self.size)
      for key in 8..<16 { try transaction.put(value.rawSpan, forKey: UInt(key), in: otherTable) }
    }
    func found(_ key: UInt, at places: ValuePlaces) throws(LMDBError) -> [UInt8]? {
      try other.environment.withRead { (transaction) throws(LMDBError) in
        [UInt8](copying: try transaction.bytes(ofValueForKey: key, from: 0, at: places))
      }
    }
    for _ in 0..<2 { #expect(try found(8, at: otherPlaces)?.first == 2) }
    #expect(try found(7, at: places) == nil)
  }
}
