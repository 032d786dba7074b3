import LMDB
import Testing

/// A stamp tells a file that was changed from one that was not, also where the system's clock for files stands still.
@Suite struct DataFileStampTests {
  @Test func `Each stamp that a file is given is another, and stays until the file is changed`() throws {
    let fixture = try Fixture()
    let path = fixture.directory.path + "/data.mdb"
    var last = try fixture.environment.dataFileStamp()
    for _ in 0..<20 {
      let stamp = try fixture.environment.stampDataFile()
      #expect(stamp != last)
      #expect(try fixture.environment.dataFileStamp() == stamp)
      #expect(DataFileStamp(of: path) == stamp)
      last = stamp
    }
    #expect(DataFileStamp(of: path + ".other") == nil)
  }

  @Test func `What is committed changes the stamp, and what is read does not`() throws {
    let fixture = try Fixture()
    let environment = fixture.environment
    let table = try environment.openDatabase(named: "table")
    for number in 0..<20 as Range<UInt8> {
      let stamp = try environment.stampDataFile()
      try environment.withRead { (transaction) throws(LMDBError) in
        _ = try transaction.value(forKey: [number].rawSpan, in: table)
      }
      #expect(try environment.dataFileStamp() == stamp)
      try environment.withWrite { (transaction) throws(LMDBError) in
        try transaction.put([number].rawSpan, forKey: [number].rawSpan, in: table)
      }
      #expect(try environment.dataFileStamp() != stamp)
    }
  }
}
