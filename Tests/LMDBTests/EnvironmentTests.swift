import LMDB
import Testing
import TestDirectories

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

private let options = EnvironmentOptions(mapSize: 1 << 22, durability: .noSync)

@Suite struct EnvironmentTests {
  @Test func `opening creates a directory that only its owner can access`() throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let environment = try Environment.open(directory: path, options: options)
    #expect(mode(of: path) == 0o700)
    #expect(mode(of: "\(path)/data.mdb") == 0o600)
    #expect(mode(of: "\(path)/lock.mdb") == 0o600)
    try environment.close()
  }

  @Test func `opening creates missing parent directories`() throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/parent/store///"
    try Environment.open(directory: path, options: options).close()
    #expect(mode(of: path) == 0o700)
  }

  @Test func `an invalid path is refused`() throws {
    let directory = TemporaryDirectory()
    let file = "\(directory.path)/file"
    unsafe fclose(fopen(file, "w"))
    #expect(throws: LMDBError.self) { try Environment.open(directory: "", options: options) }
    #expect(code { () throws(LMDBError) in try Environment.open(directory: file, options: options) } == .notADirectory)
    #expect(
      code { () throws(LMDBError) in try Environment.open(directory: "\(file)/inside", options: options) }
        == .notADirectory)
    #expect(
      code { () throws(LMDBError) in try Environment.open(directory: "with\0zero", options: options) }
        == .invalidArgument)
  }

  @Test func `invalid options are refused, and the error names them`() throws {
    for (wrong, word) in [
      (EnvironmentOptions(mapSize: 0), "mapSize"), (EnvironmentOptions(mapSize: -1), "mapSize"),
      (EnvironmentOptions(mapSize: 1 << 20, maximumDatabases: -1), "maximumDatabases"),
      (EnvironmentOptions(mapSize: 1 << 20, maximumReaders: 126), "maximumReaders"),
    ] {
      let error = #expect(throws: LMDBError.self) { try Environment.open(directory: "/nowhere", options: wrong) }
      #expect(error?.code == .invalidArgument)
      #expect(error?.message.contains(word) == true)
    }
  }

  @Test func `a read-only environment needs existing files and writes nothing`() throws {
    let directory = TemporaryDirectory()
    var readOnly = options
    readOnly.isReadOnly = true
    #expect(
      code { () throws(LMDBError) in try Environment.open(directory: "\(directory.path)/none", options: readOnly) }
        == .notFoundDirectory)
    #expect(
      code { () throws(LMDBError) in try Environment.open(directory: directory.path, options: readOnly) }
        == .notFoundDirectory)

    let writable = try Environment.open(directory: directory.path, options: options)
    let key: [UInt8] = [1]
    let table = try writable.openDatabase(named: "table")
    try writable.withWrite { (transaction) throws(LMDBError) in
      try transaction.put(key.rawSpan, forKey: key.rawSpan, in: table)
    }
    try writable.close()

    let environment = try Environment.open(directory: directory.path, options: readOnly)
    let same = try environment.openDatabase(named: "table")
    let value = try environment.withRead { (transaction) throws(LMDBError) in
      [UInt8](copying: try transaction.value(forKey: key.rawSpan, in: same))
    }
    #expect(value == key)
    #expect(code { () throws(LMDBError) in try environment.withWrite { _ in } } == .readOnly)
    #expect(code { () throws(LMDBError) in try environment.synchronize() } == .readOnly)
    #expect(code { () throws(LMDBError) in try environment.openDatabase(named: "other") } == .databaseNotFound)
    try environment.close()
  }

  @Test func `a truncated file is detected before it can crash the process`() throws {
    let directory = TemporaryDirectory()
    let environment = try Environment.open(directory: directory.path, options: options)
    let table = try environment.openDatabase(named: "table")
    let value = [UInt8](repeating: 1, count: 1000)
    try environment.withWrite { (transaction) throws(LMDBError) in
      for number: UInt8 in 0..<200 {
        let key = [number]
        try transaction.put(value.rawSpan, forKey: key.rawSpan, in: table)
      }
    }
    let size = try environment.information().fileSize
    try environment.close()

    let file = "\(directory.path)/data.mdb"
    for shorter in [size - 1, size / 2, 8192 + 1] {
      unsafe truncate(file, off_t(shorter))
      let error = #expect(throws: LMDBError.self) {
        try Environment.open(directory: directory.path, options: options)
      }
      #expect(error?.code == .truncated)
      #expect(error?.hint != nil)
    }
  }

  @Test(arguments: [5000, 1 << 40, 1 << 50, 1 << 62, UInt64.max, 0])
  func `a damaged page count is an error`(_ lastPage: UInt64) throws {
    let directory = TemporaryDirectory()
    let environment = try Environment.open(directory: directory.path, options: options)
    let pageSize = try environment.information().pageSize
    try environment.close()
    let file = unsafe fopen("\(directory.path)/data.mdb", "r+")
    var number = lastPage
    // In LMDB's format, the number of the last page is 136 bytes into each of the two meta pages.
    for page in 0..<2 {
      unsafe fseek(file, page * pageSize + 136, SEEK_SET)
      unsafe fwrite(&number, 8, 1, file)
    }
    unsafe fclose(file)
    let code = code { () throws(LMDBError) in try Environment.open(directory: directory.path, options: options) }
    #expect(code == .truncated || code == .outOfResources || code == .invalidArgument, "\(String(describing: code))")
  }

  @Test func `a file of another format is invalid`() throws {
    let directory = TemporaryDirectory()
    let file = unsafe fopen("\(directory.path)/data.mdb", "w")
    for _ in 0..<10_000 { unsafe fputc(65, file) }
    unsafe fclose(file)
    #expect(
      code { () throws(LMDBError) in try Environment.open(directory: directory.path, options: options) } == .invalid)
  }

  @Test func `information contains sizes and transactions`() throws {
    let fixture = try Fixture(mapSize: 1 << 22)
    let before = try fixture.environment.information()
    #expect(before.mapSize == 1 << 22)
    #expect(before.maximumReaders == 512)
    let table = try fixture.environment.openIntegerDatabase(named: "table")
    let value = [UInt8](repeating: 1, count: 1000)
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      for number: UInt in 0..<100 { try transaction.put(value.rawSpan, forKey: number, in: table, mode: .append) }
      let statistics = try transaction.statistics(of: table)
      #expect(statistics.entryCount == 100)
      #expect(statistics.pageCount >= 25)
    }
    let after = try fixture.environment.information()
    #expect(after.lastTransaction == before.lastTransaction + 2)
    #expect(after.fileSize >= after.pageCount * after.pageSize)
    #expect(try fixture.environment.freePageCount() < 10)
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in try transaction.removeAll(in: table) }
    #expect(try fixture.environment.freePageCount() >= 25)
  }

  @Test func `a compact copy has the entries and no free pages`() throws {
    let fixture = try Fixture(mapSize: 1 << 24)
    let table = try fixture.environment.openIntegerDatabase(named: "table")
    let value = [UInt8](repeating: 7, count: 10_000)
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      for number: UInt in 0..<100 { try transaction.put(value.rawSpan, forKey: number, in: table) }
    }
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      for number: UInt in 1..<100 { try transaction.removeValue(forKey: number, in: table) }
    }
    let target = TemporaryDirectory()
    try fixture.environment.copy(to: target.path, compacting: true)
    #expect(mode(of: "\(target.path)/data.mdb") == 0o600)
    #expect(
      code { () throws(LMDBError) in try fixture.environment.copy(to: target.path, compacting: true) }
        == .other(EEXIST))

    let copy = try Environment.open(directory: target.path, options: options)
    let same = try copy.openIntegerDatabase(named: "table")
    #expect(try copy.information().fileSize < 100_000)
    let entry = try copy.withRead { (transaction) throws(LMDBError) in
      [UInt8](copying: try transaction.value(forKey: 0, in: same))
    }
    #expect(entry == value)
    try copy.close()
  }

  @Test func `a table with another kind of keys is incompatible`() throws {
    let fixture = try Fixture()
    _ = try fixture.environment.openDatabase(named: "bytes")
    #expect(
      code { () throws(LMDBError) in try fixture.environment.openIntegerDatabase(named: "bytes") } == .incompatible)
    #expect(
      try fixture.environment.openDatabase(named: "bytes") == fixture.environment.openDatabase(named: "bytes"))
  }

  @Test func `errors describe the operation, its failure and a remedy`() {
    let error = LMDBError(status: -30792, operation: "put")
    #expect(error.code == .mapFull)
    #expect(error.description.contains("put: MDB_MAP_FULL"))
    #expect(error.description.contains("smaller transactions"))
    #expect(LMDBError(status: EIO, operation: "commit").code == .ioError)
    #expect(LMDBError(status: 12345, operation: "commit").code == .other(12345))
  }
}

/// Returns the permission bits of a file.
private func mode(of path: String) -> mode_t? {
  var status = stat()
  guard unsafe stat(path, &status) == 0 else { return nil }
  return status.st_mode & 0o777
}
