import LMDB
import Testing

private enum Key {
  static let one: [UInt8] = [1]
  static let two: [UInt8] = [2]
}

@Suite struct TransactionTests {
  @Test func `a committed value is read directly from the map`() throws {
    let fixture = try Fixture()
    let database = try fixture.environment.openDatabase(named: "table")
    for size in [0, 1, 1000, 5000, 100_000] {
      let value = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
      try fixture.environment.withWrite { (transaction) throws(LMDBError) in
        try transaction.put(value.rawSpan, forKey: Key.one.rawSpan, in: database)
      }
      #expect(try fixture.read(Key.one, in: database) == value)
    }
  }

  @Test func `an absent key is nil and not an error`() throws {
    let fixture = try Fixture()
    let database = try fixture.environment.openDatabase(named: "table")
    #expect(try fixture.read(Key.one, in: database) == nil)
    let isRemoved = try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.removeValue(forKey: Key.one.rawSpan, in: database)
    }
    #expect(!isRemoved)
  }

  @Test func `an invalid key is absent and cannot be put`() throws {
    let fixture = try Fixture()
    let database = try fixture.environment.openDatabase(named: "table")
    let longest = [UInt8](repeating: 1, count: 511)
    for key in [[], longest + [1], [UInt8](repeating: 1, count: 100_000)] {
      #expect(try fixture.read(key, in: database) == nil)
      try fixture.environment.withWrite { (transaction) throws(LMDBError) in
        let isRemoved = try transaction.removeValue(forKey: key.rawSpan, in: database)
        #expect(!isRemoved)
        var thrown: LMDBError.Code?
        do throws(LMDBError) {
          try transaction.put(key.rawSpan, forKey: key.rawSpan, in: database)
        } catch {
          thrown = error.code
        }
        #expect(thrown == .badValueSize)
        // The transaction remains usable.
        try transaction.put(key.rawSpan, forKey: longest.rawSpan, in: database)
      }
      #expect(try fixture.read(longest, in: database) == key)
    }
  }

  @Test func `an error thrown by the body aborts every change`() throws {
    let fixture = try Fixture()
    let database = try fixture.environment.openDatabase(named: "table")
    let before = try fixture.environment.information().lastTransaction
    let code = code { () throws(LMDBError) in
      try fixture.environment.withWrite { (transaction) throws(LMDBError) in
        try transaction.put(Key.one.rawSpan, forKey: Key.one.rawSpan, in: database)
        throw LMDBError(.other(1), operation: "test", message: "on purpose")
      }
    }
    #expect(code == .other(1))
    #expect(try fixture.read(Key.one, in: database) == nil)
    #expect(try fixture.environment.information().lastTransaction == before)
  }

  @Test func `reads never write`() throws {
    let fixture = try Fixture()
    let database = try fixture.environment.openDatabase(named: "table")
    let before = try fixture.environment.information().lastTransaction
    for _ in 0..<1000 { _ = try fixture.read(Key.one, in: database) }
    try fixture.environment.withWrite { _ in }
    _ = try fixture.environment.openDatabase(named: "table")
    #expect(try fixture.environment.information().lastTransaction == before)
  }

  @Test func `a read sees its snapshot while a write commits`() throws {
    let fixture = try Fixture()
    let environment = fixture.environment
    let database = try environment.openDatabase(named: "table")
    try fixture.write(Key.one, Key.one, in: database)
    try environment.withRead { (outer) throws(LMDBError) in
      let before = try outer.value(forKey: Key.one.rawSpan, in: database)
      try environment.withWrite { (transaction) throws(LMDBError) in
        try transaction.put(Key.two.rawSpan, forKey: Key.one.rawSpan, in: database)
        let changed = [UInt8](copying: try transaction.value(forKey: Key.one.rawSpan, in: database))
        #expect(changed == Key.two)
        // A read inside a write does not see uncommitted changes.
        try environment.withRead { (inner) throws(LMDBError) in
          let value = [UInt8](copying: try inner.value(forKey: Key.one.rawSpan, in: database))
          #expect(value == Key.one)
        }
      }
      let after = [UInt8](copying: before)
      #expect(after == Key.one)
      try environment.withRead { (inner) throws(LMDBError) in
        let value = [UInt8](copying: try inner.value(forKey: Key.one.rawSpan, in: database))
        #expect(value == Key.two)
        let isLater = inner.number > outer.number
        #expect(isLater)
      }
    }
  }

  @Test func `a write inside a write of the same thread is refused`() throws {
    let fixture = try Fixture()
    let environment = fixture.environment
    let database = try environment.openDatabase(named: "table")
    try environment.withWrite { (transaction) throws(LMDBError) in
      #expect(code { () throws(LMDBError) in try environment.withWrite { _ in } } == .busy)
      #expect(code { () throws(LMDBError) in try environment.openDatabase(named: "other") } == .busy)
      try transaction.put(Key.one.rawSpan, forKey: Key.one.rawSpan, in: database)
    }
    try environment.withWrite { _ in }
    #expect(try fixture.read(Key.one, in: database) == Key.one)
  }

  @Test func `writers of several threads run one after the other`() throws {
    let fixture = try Fixture()
    let environment = fixture.environment
    let counter = try environment.openIntegerDatabase(named: "counter")
    let log = Log()
    let threads = (0..<4).map { _ in
      JoinableThread {
        for _ in 0..<100 {
          do {
            try environment.withWrite { (transaction) throws(LMDBError) in
              let old = number(try transaction.value(forKey: 0, in: counter)) ?? 0
              let next = [UInt8](number: old + 1)
              try transaction.put(next.rawSpan, forKey: 0, in: counter)
            }
          } catch { log.append("\(error)") }
        }
      }
    }
    for thread in threads { thread.join() }
    #expect(log.all == [])
    let count = try environment.withRead { (transaction) throws(LMDBError) in
      number(try transaction.value(forKey: 0, in: counter))
    }
    #expect(count == 400)
  }

  @Test func `an insertion keeps an existing value`() throws {
    let fixture = try Fixture()
    let database = try fixture.environment.openDatabase(named: "table")
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      let isFirst = try transaction.put(Key.one.rawSpan, forKey: Key.one.rawSpan, in: database, mode: .insert)
      let isSecond = try transaction.put(Key.two.rawSpan, forKey: Key.one.rawSpan, in: database, mode: .insert)
      #expect(isFirst)
      #expect(!isSecond)
    }
    #expect(try fixture.read(Key.one, in: database) == Key.one)
  }

  @Test func `appending out of order is refused`() throws {
    let fixture = try Fixture()
    let table = try fixture.environment.openIntegerDatabase(named: "table")
    let value = Key.one
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      for number: UInt in [1, 255, 256, 70_000] {
        try transaction.put(value.rawSpan, forKey: number, in: table, mode: .append)
      }
    }
    #expect(
      code { () throws(LMDBError) in
        try fixture.environment.withWrite { (transaction) throws(LMDBError) in
          try transaction.put(value.rawSpan, forKey: 2, in: table, mode: .append)
        }
      } == .keyExists)
  }

  @Test func `reserved bytes are filled in place`() throws {
    let fixture = try Fixture()
    let database = try fixture.environment.openDatabase(named: "table")
    let numbers = try fixture.environment.openIntegerDatabase(named: "numbers")
    let value = (0..<3000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      var bytes = try transaction.reserve(byteCount: value.count, forKey: Key.one.rawSpan, in: database)
      for index in value.indices { bytes.storeBytes(of: value[index], toByteOffset: index, as: UInt8.self) }
      var more = try transaction.reserve(byteCount: 10, forKey: 5, in: numbers, appending: true)
      for index in 0..<10 { more.storeBytes(of: value[index], toByteOffset: index, as: UInt8.self) }
    }
    #expect(try fixture.read(Key.one, in: database) == value)
    let appended = try fixture.environment.withRead { (transaction) throws(LMDBError) in
      [UInt8](copying: try transaction.value(forKey: 5, in: numbers))
    }
    #expect(appended == Array(value[..<10]))
  }

  @Test func `a full map fails its transaction but not the next one`() throws {
    let fixture = try Fixture(mapSize: 1 << 18)
    let table = try fixture.environment.openIntegerDatabase(named: "table")
    let value = [UInt8](repeating: 9, count: 4000)
    var count: UInt = 0
    var failure: LMDBError?
    while failure == nil {
      do throws(LMDBError) {
        try fixture.environment.withWrite { (transaction) throws(LMDBError) in
          try transaction.put(value.rawSpan, forKey: count, in: table)
        }
        count += 1
      } catch {
        failure = error
      }
    }
    #expect(failure?.code == .mapFull)
    #expect(count > 20)
    #expect(try fixture.environment.information().fileSize <= 1 << 18)
    for number in 0..<count / 2 {
      try fixture.environment.withWrite { (transaction) throws(LMDBError) in
        let isRemoved = try transaction.removeValue(forKey: number, in: table)
        #expect(isRemoved)
      }
    }
    try fixture.environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.put(value.rawSpan, forKey: count, in: table)
    }
  }

  @Test func `a failed transaction cannot commit`() throws {
    let fixture = try Fixture(mapSize: 1 << 18)
    let table = try fixture.environment.openIntegerDatabase(named: "table")
    let value = [UInt8](repeating: 9, count: 1 << 19)
    let code = code { () throws(LMDBError) in
      try fixture.environment.withWrite { (transaction) throws(LMDBError) in
        var first: LMDBError.Code?
        do throws(LMDBError) { try transaction.put(value.rawSpan, forKey: 0, in: table) } catch { first = error.code }
        #expect(first == .mapFull)
      }
    }
    #expect(code == .badTransaction)
  }
}

private func number(_ bytes: RawSpan?) -> UInt? {
  guard let bytes else { return nil }
  return unsafe bytes.unsafeLoadUnaligned(as: UInt.self)
}

extension [UInt8] {
  fileprivate init(number: UInt) {
    self = unsafe Swift.withUnsafeBytes(of: number) { unsafe Array($0) }
  }
}

extension Fixture {
  func read(_ key: [UInt8], in database: Database) throws(LMDBError) -> [UInt8]? {
    try environment.withRead { (transaction) throws(LMDBError) in
      [UInt8](copying: try transaction.value(forKey: key.rawSpan, in: database))
    }
  }

  func write(_ value: [UInt8], _ key: [UInt8], in database: Database) throws(LMDBError) {
    try environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.put(value.rawSpan, forKey: key.rawSpan, in: database)
    }
  }
}
