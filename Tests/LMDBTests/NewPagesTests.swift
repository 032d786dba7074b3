import LMDB
import TestDirectories
import Testing

/// The space of a transaction's new pages in the file.
struct NewPagesTests {
  private static let key: [UInt8] = [1]

  /// Commits a value that the same transaction removes, and another change.
  private func giveBack(_ size: Int, in fixture: Fixture) throws {
    let database = try fixture.environment.openDatabase(named: "table")
    let value = [UInt8](repeating: 1, count: size)
    // A transaction that uses free pages has a list of them, to which the pages return.
    for number in 0..<4 {
      try fixture.environment.withWrite { (transaction) throws(LMDBError) in
        try transaction.put([UInt8(number)].rawSpan, forKey: [2, 3].rawSpan, in: database)
      }
    }
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.put(value.rawSpan, forKey: Self.key.rawSpan, in: database)
      try transaction.removeValue(forKey: Self.key.rawSpan, in: database)
    }
  }

  @Test(arguments: [3000, 10_000, 500_000])
  func `The file has space for pages that a transaction took and gave back`(size: Int) throws {
    let fixture = try Fixture()
    try giveBack(size, in: fixture)
    let information = try fixture.environment.information()
    #expect(information.pageCount > size / information.pageSize)
    #expect(information.fileSize >= information.pageCount * information.pageSize)
  }

  @Test func `The file grows no further than its pages`() throws {
    let fixture = try Fixture()
    let database = try fixture.environment.openDatabase(named: "table")
    for number in 0..<100 {
      let value = [UInt8](repeating: UInt8(number), count: 100 * number)
      try fixture.environment.withWrite { (transaction) throws(LMDBError) in
        try transaction.put(value.rawSpan, forKey: [1, UInt8(number)].rawSpan, in: database)
      }
      let information = try fixture.environment.information()
      #expect(information.fileSize == information.pageCount * information.pageSize)
      #expect(try fixture.read([1, UInt8(number)], in: database) == value)
    }
  }

  @Test func `A transaction that takes new pages can give the file space for further ones`() throws {
    let fixture = try Fixture()
    let database = try fixture.environment.openDatabase(named: "table")
    let value = [UInt8](repeating: 1, count: 20_000)
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.put(value.rawSpan, forKey: Self.key.rawSpan, in: database)
      transaction.sparePages = 12
    }
    let grown = try fixture.environment.information()
    // LMDB takes some of them for its list of free pages.
    #expect(grown.fileSize > (grown.pageCount + 6) * grown.pageSize)
  }
}
