import LMDB
import Testing
import TestDirectories

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The oldest snapshot protects space that a writer would use again.
@Suite struct OldestSnapshotTests {
  private func commit(_ environment: Environment) throws(LMDBError) {
    let table = environment.mainDatabase
    let key: [UInt8] = [1]
    try environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.put(key.rawSpan, forKey: key.rawSpan, in: table)
    }
  }

  private func oldest(_ environment: Environment) throws(LMDBError) -> [UInt?] {
    let outside = try environment.oldestSnapshot()
    let inside = try environment.withWrite { (transaction) throws(LMDBError) in try transaction.oldestSnapshot() }
    return [outside, inside]
  }

  @Test func `the oldest snapshot is that of the oldest active reader`() throws {
    let fixture = try Fixture()
    let environment = fixture.environment
    #expect(try oldest(environment) == [nil, nil])
    // Before the first commit, the snapshot has the number 0.
    do {
      let reader = try environment.beginRead()
      #expect(reader.number == 0)
      #expect(try oldest(environment) == [0, 0])
    }
    // An idle reader keeps its slot, but protects nothing.
    #expect(try environment.readers().count == 1)
    #expect(try oldest(environment) == [nil, nil])
    for _ in 0..<12 { try commit(environment) }
    let twelfth = try environment.beginRead()
    try commit(environment)
    do {
      let thirteenth = try environment.beginRead()
      #expect(thirteenth.number == 13)
      #expect(try oldest(environment) == [12, 12])
    }
    #expect(try oldest(environment) == [12, 12])
    #expect(twelfth.number == 12)
  }

  @Test func `a dead process's snapshot counts until its slot is freed`() throws {
    let directory = TemporaryDirectory()
    let options = EnvironmentOptions(mapSize: 1 << 22, durability: .noSync)
    let environment = try Environment.open(directory: directory.path, options: options)
    for _ in 0..<3 { try commit(environment) }
    #expect(dieInRead(of: directory.path, mapSize: 1 << 22) == 0)
    try commit(environment)
    let reader = try environment.beginRead()
    #expect(reader.number == 4)
    #expect(try oldest(environment) == [3, 3])
    try environment.clearStaleReaders()
    #expect(try oldest(environment) == [4, 4])
    _ = consume reader
    #expect(try oldest(environment) == [nil, nil])
    try environment.close()
  }
}
