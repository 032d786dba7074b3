import CLMDB
import LMDB
import Testing
import TestDirectories

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

private let options = EnvironmentOptions(mapSize: 1 << 22, durability: .noSync)

@Suite(.serialized) struct ProcessTests {
  @Test func `a child process cannot use an environment from before the fork`() throws {
    let fixture = try Fixture()
    let environment = fixture.environment
    func attempts(on environment: Environment) -> Int32 {
      var refusals: Int32 = 0
      for attempt in 0..<4 {
        let found = code { () throws(LMDBError) in
          switch attempt {
          case 0: try environment.withRead { _ in }
          case 1: try environment.withWrite { _ in }
          case 2: _ = try environment.information()
          default: try environment.close()
          }
        }
        if found == .forked { refusals += 1 }
      }
      return refusals
    }
    // All operations run once in the parent first: their one-time initialization could need a lock that another
    // thread held at the fork.
    _ = code { () throws(LMDBError) in throw LMDBError(.forked, operation: "test", message: "test") }
    try environment.withRead { _ in }
    try environment.withWrite { _ in }
    let own = TemporaryDirectory()
    let other = try Environment.open(directory: own.path, options: options)
    #expect(attempts(on: other) == 0)

    let status = inChild { attempts(on: environment) }
    #expect(status == 4)
    #expect(!environment.isInherited)
    try environment.withWrite { _ in }
  }

  @Test func `the slot of a dead reader is freed on request`() throws {
    let directory = TemporaryDirectory()
    let environment = try Environment.open(directory: directory.path, options: options)
    try environment.withRead { _ in }
    #expect(dieInRead(of: directory.path, mapSize: 1 << 22) == 0)
    #expect(try environment.information().readerCount == 2)
    let others = try environment.readers().filter { $0.process != getpid() }
    #expect(others.map(\.transaction) == [UInt(0)])
    #expect(try environment.clearStaleReaders() == 1)
    #expect(try environment.clearStaleReaders() == 0)
    try environment.close()
  }

  @Test func `the next read sees another process's commit`() throws {
    let directory = TemporaryDirectory()
    let environment = try Environment.open(directory: directory.path, options: options)
    // The parent runs the code first, for its one-time initialization.
    let own = TemporaryDirectory()
    let first = unsafe own.path.withCString { unsafe writeByte(to: $0) }
    #expect(first == 0)
    let status = unsafe directory.path.withCString { path in inChild { unsafe writeByte(to: path) } }
    #expect(status == 0)
    let key: [UInt8] = [7]
    let value = try environment.withRead { (transaction) throws(LMDBError) in
      [UInt8](copying: try transaction.value(forKey: key.rawSpan, in: environment.mainDatabase))
    }
    #expect(value == key)
    try environment.close()
  }
}

/// Writes the byte 7 under an equal key, in C alone. Returns zero, or another number after an error.
private func writeByte(to path: UnsafePointer<CChar>) -> Int32 {
  var environment: OpaquePointer?
  var transaction: OpaquePointer?
  var byte: UInt8 = 7
  defer { unsafe mdb_env_close(environment) }
  guard unsafe mdb_env_create(&environment) == 0, unsafe mdb_env_set_mapsize(environment, 1 << 22) == 0,
    unsafe mdb_env_open(environment, path, UInt32(MDB_NOTLS), 0o600) == 0,
    unsafe mdb_txn_begin(environment, nil, 0, &transaction) == 0
  else { return 1 }
  return unsafe withUnsafeMutableBytes(of: &byte) { bytes in
    var key = unsafe MDB_val(mv_size: 1, mv_data: bytes.baseAddress)
    var value = unsafe key
    var index: MDB_dbi = 0
    guard unsafe mdb_dbi_open(transaction, nil, 0, &index) == 0,
      unsafe mdb_put(transaction, index, &key, &value, 0) == 0
    else { return 2 }
    return unsafe mdb_txn_commit(transaction)
  }
}
