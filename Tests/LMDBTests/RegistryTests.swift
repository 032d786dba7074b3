import LMDB
import Testing
import TestDirectories

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

private let options = EnvironmentOptions(mapSize: 1 << 22, durability: .noSync)

@Suite struct RegistryTests {
  @Test func `opening a directory twice returns the same environment until both are closed`() throws {
    let directory = TemporaryDirectory()
    let first = try Environment.open(directory: directory.path, options: options)
    let second = try Environment.open(directory: directory.path, options: options)
    #expect(first === second)
    try first.close()
    _ = try second.information()
    try second.close()
    #expect(code { () throws(LMDBError) in try second.information() } == .closed)
    #expect(code { () throws(LMDBError) in try second.withRead { _ in } } == .closed)
    #expect(code { () throws(LMDBError) in try second.withWrite { _ in } } == .closed)
    try second.close()

    let third = try Environment.open(directory: directory.path, options: options)
    #expect(third !== first)
    try third.close()
  }

  @Test func `every path to a directory returns the same environment`() throws {
    let directory = TemporaryDirectory()
    let environment = try Environment.open(directory: "\(directory.path)/store", options: options)
    unsafe symlink("\(directory.path)/store", "\(directory.path)/link")
    let upward = String(repeating: "../", count: 64)
    for path in ["/link", "/store/", "/./store/../store"].map({ directory.path + $0 }) + [
      upward + directory.path + "/store"
    ] {
      let same = try Environment.open(directory: path, options: options)
      #expect(same === environment, "\(path)")
      try same.close()
    }
    try environment.close()
  }

  @Test func `a second opening with other options is refused and has no effect`() throws {
    let directory = TemporaryDirectory()
    let environment = try Environment.open(directory: directory.path, options: options)
    var other = options
    other.mapSize *= 2
    let error = #expect(throws: LMDBError.self) { try Environment.open(directory: directory.path, options: other) }
    #expect(error?.code == .conflictingOpen)
    #expect(error?.message.contains("mapSize") == true)
    _ = try environment.information()
    try environment.close()
    try Environment.open(directory: directory.path, options: other).close()
  }

  @Test(arguments: ["data.mdb", "lock.mdb"])
  func `a replaced file is neither shared nor opened a second time`(_ name: String) throws {
    let directory = TemporaryDirectory()
    let environment = try Environment.open(directory: directory.path, options: options)
    let open = { () throws(LMDBError) in try Environment.open(directory: directory.path, options: options) }
    unsafe rename("\(directory.path)/\(name)", "\(directory.path)/aside")
    #expect(code(open) == .conflictingOpen)
    unsafe fclose(fopen("\(directory.path)/\(name)", "w"))
    #expect(code(open) == .conflictingOpen)
    try environment.close()
    try open().close()
  }

  @Test func `a directory whose files were moved away opens as a new environment`() throws {
    let directory = TemporaryDirectory()
    let old = try Environment.open(directory: directory.path, options: options)
    try old.withRead { (_) throws(LMDBError) in
      for name in ["data.mdb", "lock.mdb"] {
        unsafe rename("\(directory.path)/\(name)", "\(directory.path)/old-\(name)")
      }
      let new = try Environment.open(directory: directory.path, options: options)
      #expect(new !== old)
      try new.withWrite { _ in }
      try new.close()
    }
    try old.close()
  }

  @Test func `a directory that was moved away leaves its path to a new environment`() throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let old = try Environment.open(directory: path, options: options)
    unsafe rename(path, "\(directory.path)/aside")
    let new = try Environment.open(directory: path, options: options)
    #expect(new !== old)
    try old.close()
    try new.close()
  }

  @Test func `closing inside a transaction is refused and has no effect`() throws {
    let fixture = try Fixture()
    let environment = fixture.environment
    try environment.withRead { (_) throws(LMDBError) in
      #expect(code { () throws(LMDBError) in try environment.close() } == .busy)
    }
    try environment.withWrite { (_) throws(LMDBError) in
      #expect(code { () throws(LMDBError) in try environment.close() } == .busy)
    }
    try environment.withRead { _ in }
  }

  @Test func `closing waits for the readers of other threads`() throws {
    let directory = TemporaryDirectory()
    let environment = try Environment.open(directory: directory.path, options: options)
    let table = try environment.openDatabase(named: "table")
    let key: [UInt8] = [1]
    try environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.put(key.rawSpan, forKey: key.rawSpan, in: table)
    }
    let log = Log()
    let reader = JoinableThread {
      do throws(LMDBError) {
        try environment.withRead { (transaction) throws(LMDBError) in
          let value = try transaction.value(forKey: key.rawSpan, in: table)
          log.append("begun")
          // Further reads are refused from the moment at which the environment begins to close.
          while code({ () throws(LMDBError) in try environment.withRead { _ in } }) != .closed {}
          log.append([UInt8](copying: value) == key ? "read" : "wrong")
        }
      } catch {
        log.append("\(error)")
      }
    }
    while log.all.isEmpty { sched_yield() }
    try environment.close()
    log.append("closed")
    reader.join()
    #expect(log.all == ["begun", "read", "closed"])
  }

  @Test func `many threads may open and close one directory`() throws {
    let directory = TemporaryDirectory()
    let path = directory.path
    let failures = Log()
    let threads = (0..<4).map { _ in
      JoinableThread {
        for _ in 0..<50 {
          do {
            let environment = try Environment.open(directory: path, options: options)
            try environment.withRead { _ in }
            try environment.withWrite { _ in }
            try environment.close()
          } catch { failures.append("\(error)") }
        }
      }
    }
    for thread in threads { thread.join() }
    #expect(failures.all == [])
  }
}
