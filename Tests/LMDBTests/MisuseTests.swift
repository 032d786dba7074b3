import LMDB
import Testing

/// Misuse does not compile, and the error names the expected reason.
@Suite struct MisuseTests {
  @Test(.enabled(if: Compilation.compiler != nil), arguments: Misuse.all)
  func `the compiler refuses misuse`(_ misuse: Misuse) {
    let errors = Compilation.errors(in: misuse.source)
    if let error = misuse.error {
      #expect(errors.contains(error), "\(errors)")
    } else {
      #expect(errors == "")
    }
  }
}

struct Misuse: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let body: String
  /// A part of the expected error, or nil if the code must compile.
  let error: String?

  /// The body inside a function that declares its dependencies.
  var source: String {
    """
    import LMDB
    func end(_ transaction: consuming WriteTransaction) {}
    func snippet(
      _ environment: Environment, _ other: Environment, _ table: Database, _ numbers: IntegerDatabase, _ key: [UInt8],
      _ index: IndexDatabase
    ) throws(LMDBError) {
    \(body)
    }
    extension [UInt8] {
      var rawSpan: RawSpan { @_lifetime(borrow self) get { span.bytes } }
      init?(copying bytes: RawSpan?) {
        guard let bytes else { return nil }
        self = bytes.withUnsafeBytes { Array($0) }
      }
    }
    """
  }

  static let all = [
    Misuse(
      testDescription: "correct use",
      body: """
        let copy = try environment.withRead { (transaction) throws(LMDBError) in
          var cursor = try transaction.cursor(in: numbers)
          _ = try cursor.moveToFirst()
          return [UInt8](copying: try transaction.value(forKey: key.rawSpan, in: table))
        }
        try environment.withWrite { (transaction) throws(LMDBError) in
          try transaction.put(key.rawSpan, forKey: key.rawSpan, in: table)
          _ = try transaction.value(forKey: 1, in: numbers)
          if let value = try transaction.fixedValue(forKey: 1, in: numbers) { try value.write(key.rawSpan, at: 0) }
          try transaction.put(key.rawSpan, forKey: 1, in: numbers)
        }
        _ = copy
        """, error: nil),
    Misuse(
      testDescription: "a view that leaves its transaction",
      body: """
        var kept: RawSpan? = nil
        try environment.withRead { (transaction) throws(LMDBError) in
          kept = try transaction.value(forKey: key.rawSpan, in: table)
        }
        _ = kept
        """, error: "lifetime-dependent variable 'kept' escapes its scope"),
    Misuse(
      testDescription: "a view as a transaction's result",
      body: """
        let kept = try environment.withRead { (transaction) throws(LMDBError) -> RawSpan? in
          try transaction.value(forKey: key.rawSpan, in: table)
        }
        _ = kept
        """, error: "conform to 'Escapable'"),
    Misuse(
      testDescription: "a view across a later change",
      body: """
        try environment.withWrite { (transaction) throws(LMDBError) in
          let value = try transaction.value(forKey: key.rawSpan, in: table)
          try transaction.put(key.rawSpan, forKey: key.rawSpan, in: table)
          if let value { print(value.byteCount) }
        }
        """, error: "overlapping accesses to 'transaction'"),
    Misuse(
      testDescription: "reserved space across a later change",
      body: """
        try environment.withWrite { (transaction) throws(LMDBError) in
          var room = try transaction.reserve(byteCount: 1, forKey: key.rawSpan, in: table)
          try transaction.removeValue(forKey: key.rawSpan, in: table)
          room.storeBytes(of: 1, toByteOffset: 0, as: UInt8.self)
        }
        """, error: "overlapping accesses to 'transaction'"),
    Misuse(
      testDescription: "a view across a move of the cursor",
      body: """
        try environment.withRead { (transaction) throws(LMDBError) in
          var cursor = try transaction.cursor(in: table)
          let key = cursor.key
          _ = try cursor.moveToNext()
          if let key { print(key.byteCount) }
        }
        """, error: "overlapping accesses to 'cursor'"),
    Misuse(
      testDescription: "a change during the use of a writing cursor",
      body: """
        try environment.withWrite { (transaction) throws(LMDBError) in
          var cursor = try transaction.cursor(in: table)
          try transaction.removeValue(forKey: key.rawSpan, in: table)
          _ = try cursor.moveToNext()
        }
        """, error: "overlapping accesses to 'transaction'"),
    Misuse(
      testDescription: "a consumed write transaction",
      body: "try environment.withWrite { (transaction) throws(LMDBError) in end(transaction) }",
      error: "missing reinitialization of inout parameter"),
    Misuse(
      testDescription: "two swapped write transactions",
      body: """
        try environment.withWrite { (one) throws(LMDBError) in
          try other.withWrite { (two) throws(LMDBError) in swap(&one, &two) }
        }
        """, error: "conform to 'Escapable'"),
    Misuse(
      testDescription: "a write transaction on another thread",
      body: "try environment.withWrite { (transaction) throws(LMDBError) in Task { print(transaction.number) } }",
      error: "escaping closure captures 'inout' parameter"),
    Misuse(
      testDescription: "an explicit commit",
      body: "try environment.withWrite { (transaction) throws(LMDBError) in try transaction.commit() }",
      error: "'commit' is inaccessible"),
    Misuse(
      testDescription: "suspension inside a transaction",
      body: "try environment.withWrite { (transaction) throws(LMDBError) in await Task.yield() }",
      error: "'async' call in a function that does not support concurrency"),
    Misuse(
      testDescription: "a read transaction after its end",
      body: """
        let transaction = try environment.beginRead()
        do { _ = consume transaction }
        print(transaction.number)
        """, error: "'transaction' used after consume"),
    Misuse(
      testDescription: "a read transaction stored without its environment",
      body: """
        struct Keeper: ~Copyable { let transaction: ReadTransaction }
        """, error: "has non-Escapable type 'ReadTransaction'"),
    Misuse(
      testDescription: "removal at a reading cursor",
      body: """
        try environment.withRead { (transaction) throws(LMDBError) in
          var cursor = try transaction.cursor(in: table)
          try cursor.removeCurrent()
        }
        """, error: "requires the types 'CursorReads' and 'CursorWrites' be equivalent"),
    Misuse(
      testDescription: "correct use of an index",
      body: """
        let item = try environment.withWrite { (transaction) throws(LMDBError) -> IndexItem? in
          var cursor = try transaction.cursor(forKey: IndexKey(1), in: index)
          try cursor.insert(IndexItem(digest: 1, address: 1))
          _ = try cursor.moveToFirst()
          return cursor.item
        }
        try environment.withRead { (transaction) throws(LMDBError) in
          var cursor = try transaction.cursor(forKey: IndexKey(1), in: index)
          _ = try cursor.moveToFirst()
        }
        _ = item
        """, error: nil),
    Misuse(
      testDescription: "removal at a reading cursor of an index",
      body: """
        try environment.withRead { (transaction) throws(LMDBError) in
          var cursor = try transaction.cursor(forKey: IndexKey(1), in: index)
          try cursor.removeCurrent()
        }
        """, error: "requires the types 'CursorReads' and 'CursorWrites' be equivalent"),
    Misuse(
      testDescription: "a change during the use of a cursor of an index",
      body: """
        try environment.withWrite { (transaction) throws(LMDBError) in
          var cursor = try transaction.cursor(forKey: IndexKey(1), in: index)
          try transaction.removeValue(forKey: key.rawSpan, in: table)
          _ = try cursor.moveToNext()
        }
        """, error: "overlapping accesses to 'transaction'"),
    Misuse(
      testDescription: "an ordinary cursor of an index",
      body: """
        try environment.withWrite { (transaction) throws(LMDBError) in _ = try transaction.cursor(in: index) }
        """, error: "requires that 'IndexDatabase' conform to 'DatabaseHandle'"),
    Misuse(
      testDescription: "a fixed value that leaves its transaction",
      body: """
        let kept = try environment.withWrite { (transaction) throws(LMDBError) -> FixedValue? in
          try transaction.fixedValue(forKey: 1, in: numbers)
        }
        _ = kept
        """, error: "conform to 'Escapable'"),
    Misuse(
      testDescription: "a fixed value across a later change",
      body: """
        try environment.withWrite { (transaction) throws(LMDBError) in
          let value = try transaction.fixedValue(forKey: 1, in: numbers)
          try transaction.removeValue(forKey: 1, in: numbers)
          try value?.write(key.rawSpan, at: 0)
        }
        """, error: "overlapping accesses to 'transaction'"),
    Misuse(
      testDescription: "a fixed value of a reader",
      body: """
        try environment.withRead { (transaction) throws(LMDBError) in
          try transaction.fixedValue(forKey: 1, in: numbers)?.write(key.rawSpan, at: 0)
        }
        """, error: "has no member 'fixedValue'"),
    Misuse(
      testDescription: "a key of another kind",
      body: """
        try environment.withWrite { (transaction) throws(LMDBError) in
          try transaction.put(key.rawSpan, forKey: 1, in: table)
        }
        """, error: "cannot convert value of type"),
  ]
}
