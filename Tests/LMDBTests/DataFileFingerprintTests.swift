import LMDB
import Testing

/// A fingerprint distinguishes a changed file from an unchanged one, even if the system's clock for files stands
/// still.
@Suite struct DataFileFingerprintTests {
  @Test func `each new fingerprint of a file differs, and stays until the file changes`() throws {
    let fixture = try Fixture()
    let path = fixture.directory.path + "/data.mdb"
    var last = try fixture.environment.dataFileFingerprint()
    for _ in 0..<20 {
      let stamp = try fixture.environment.fingerprintDataFile()
      #expect(stamp != last)
      #expect(try fixture.environment.dataFileFingerprint() == stamp)
      #expect(DataFileFingerprint(of: path) == stamp)
      last = stamp
    }
    #expect(DataFileFingerprint(of: path + ".other") == nil)
  }

  @Test func `a commit changes the fingerprint, and a read does not`() throws {
    let fixture = try Fixture()
    let environment = fixture.environment
    let table = try environment.openDatabase(named: "table")
    for number in 0..<20 as Range<UInt8> {
      let stamp = try environment.fingerprintDataFile()
      try environment.withRead { (transaction) throws(LMDBError) in
        _ = try transaction.value(forKey: [number].rawSpan, in: table)
      }
      #expect(try environment.dataFileFingerprint() == stamp)
      try environment.withWrite { (transaction) throws(LMDBError) in
        try transaction.put([number].rawSpan, forKey: [number].rawSpan, in: table)
      }
      #expect(try environment.dataFileFingerprint() != stamp)
    }
  }
}
