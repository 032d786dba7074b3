import LMDB
import TestDirectories
import Testing

/// Copies of an environment that are stopped.
@Suite struct CopyStopTests {
  private func fixture() throws -> Fixture {
    let fixture = try Fixture(mapSize: 1 << 24)
    let table = try fixture.environment.openIntegerDatabase(named: "table")
    let value = [UInt8](repeating: 7, count: 10_000)
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      for number: UInt in 0..<500 { try transaction.put(value.rawSpan, forKey: number, in: table) }
    }
    return fixture
  }

  @Test(arguments: [false, true])
  func `a stopped copy fails and leaves no file, and the environment stays usable`(compacting: Bool) throws {
    let fixture = try fixture()
    let target = TemporaryDirectory()
    let stop = CopyStop()
    stop.stop()
    #expect(throws: LMDBError.self) {
      try fixture.environment.copy(to: target.path, compacting: compacting, until: stop)
    }
    #expect(target.names(in: "") == [])
    #expect(try fixture.environment.readers().allSatisfy { $0.transaction == nil })
    try fixture.environment.copy(to: target.path, compacting: compacting, until: CopyStop())
    #expect(target.names(in: "") == ["data.mdb"])
  }

  @Test func `a stop after the copy has no effect on the copy`() throws {
    let fixture = try fixture()
    let target = TemporaryDirectory()
    let stop = CopyStop()
    try fixture.environment.copy(to: target.path, compacting: true, until: stop)
    stop.stop()
    let copy = try Environment.open(
      directory: target.path, options: EnvironmentOptions(mapSize: 1 << 24, durability: .noSync))
    let table = try copy.openIntegerDatabase(named: "table")
    let count = try copy.withRead { (transaction) throws(LMDBError) in
      try transaction.statistics(of: table).entryCount
    }
    #expect(count == 500)
    try copy.close()
  }
}
