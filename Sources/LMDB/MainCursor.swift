import CLMDB

/// A position in the unnamed database, which moves forward from entry to entry in key order.
///
/// The cursor reads mapped pages. It throws an error at a damaged one, because LMDB ends the process at some damage. It
/// uses LMDB only while the location of the pages or the root of the snapshot is unknown.
///
/// The compiler ensures that a cursor does not outlive its transaction, and that its views end when it moves.
@safe
@usableFromInline
package struct MainCursor: ~Copyable, ~Escapable {
  /// LMDB's transaction, which outlives the cursor.
  private let transaction: OpaquePointer
  private let environment: Unmanaged<Environment>
  private let snapshot: UInt64
  /// The walk over the mapped pages, with the bytes of the current entry. It does not move if LMDB's cursor exists.
  @usableFromInline var walk: MappedWalk
  /// LMDB's cursor, if the walk gives no answer. Valid until `deinit` closes it.
  private var fallback: OpaquePointer?
  /// Whether the cursor is at an entry.
  @usableFromInline
  package private(set) var isAtEntry = false

  @_lifetime(borrow transaction)
  init(_ transaction: borrowing ReadTransaction) {
    unsafe self.transaction = unsafe transaction.handle
    unsafe environment = unsafe transaction.environment
    let pages = unsafe environment._withUnsafeGuaranteedRef { unsafe $0.map.pages }
    snapshot = UInt64(transaction.number)
    unsafe walk = unsafe MappedWalk(pages, snapshot: snapshot)
    unsafe fallback = nil
  }

  deinit {
    if let fallback = unsafe fallback { unsafe mdb_cursor_close(fallback) }
  }

  /// The key at the cursor. It has no meaning if the cursor is at no entry.
  @inlinable
  package var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      let span = unsafe RawSpan(_unsafeBytes: walk.key)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// The value at the cursor. It is aligned to two bytes only, and has no meaning if the cursor is at no entry.
  @inlinable
  package var value: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      let span = unsafe RawSpan(_unsafeBytes: walk.value)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Moves to the first entry at or after the key. Returns false if no entry follows. O(log n).
  package mutating func move(toFirstFrom key: RawSpan) throws(LMDBError) -> Bool {
    unsafe try key.withUnsafeBytes { (bytes) throws(LMDBError) in
      if unsafe fallback == nil {
        let step = unsafe walk.move(toFirstFrom: bytes)
        if step != .unknown { return try take(step) }
        if let step = unsafe try learnedStep(toFirstFrom: bytes) { return try take(step) }
      }
      return unsafe try seekByLMDB(bytes)
    }
  }

  /// Moves to the next entry. Returns false after the last entry, or if the cursor is at no entry.
  package mutating func moveToNext() throws(LMDBError) -> Bool {
    guard isAtEntry else { return false }
    if unsafe fallback == nil { return unsafe try take(walk.moveToNext()) }
    return unsafe try moveByLMDB(MDB_NEXT, from: MDB_val())
  }

  @inline(__always)
  private mutating func take(_ step: MappedWalk.Step) throws(LMDBError) -> Bool {
    isAtEntry = step == .entry
    if isAtEntry || step == .end { return isAtEntry }
    throw LMDBError(.corrupted, operation: "move a cursor", message: "a page is damaged")
  }

  // MARK: LMDB's cursor

  /// Learns the location of the pages from the first entry, and moves there as the walk does. Returns nil if the walk
  /// still gives no answer.
  ///
  /// LMDB reads only the pages that lead to the first entry.
  @inline(never)
  private mutating func learnedStep(toFirstFrom key: UnsafeRawBufferPointer) throws(LMDBError) -> MappedWalk.Step? {
    let canLearn = unsafe environment._withUnsafeGuaranteedRef { $0.map.canLearn }
    guard canLearn, unsafe try moveByLMDB(MDB_FIRST, from: MDB_val()) else { return nil }
    let pages = unsafe environment._withUnsafeGuaranteedRef { unsafe $0.map.pages }
    guard unsafe pages != nil else { return nil }
    unsafe walk = unsafe MappedWalk(pages, snapshot: snapshot)
    let step = unsafe walk.move(toFirstFrom: key)
    guard step != .unknown else { return nil }
    if let fallback = unsafe fallback { unsafe mdb_cursor_close(fallback) }
    unsafe fallback = nil
    return step
  }

  private mutating func seekByLMDB(_ key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
    // LMDB only reads the key.
    let keyValue = unsafe MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
    return unsafe try moveByLMDB(key.isEmpty ? MDB_FIRST : MDB_SET_RANGE, from: keyValue)
  }

  private mutating func moveByLMDB(_ operation: MDB_cursor_op, from key: MDB_val) throws(LMDBError) -> Bool {
    isAtEntry = false
    let cursor: OpaquePointer
    if let fallback = unsafe fallback {
      unsafe cursor = unsafe fallback
    } else {
      unsafe cursor = unsafe try openCursor(in: Database.main.index, of: transaction)
      unsafe fallback = unsafe cursor
    }
    var key = unsafe key
    var value = unsafe MDB_val()
    let status = unsafe mdb_cursor_get(cursor, &key, &value, operation)
    if status == MDB_NOTFOUND { return false }
    // In a damaged page, LMDB can report success without a key or without a value.
    guard status == MDB_SUCCESS, unsafe key.mv_data != nil, unsafe value.mv_data != nil else {
      throw LMDBError(status: status == MDB_SUCCESS ? MDB_CORRUPTED : status, operation: "move a cursor")
    }
    unsafe walk.key = unsafe UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size)
    unsafe walk.value = unsafe UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
    unsafe environment._withUnsafeGuaranteedRef { unsafe $0.map.learn(from: walk.value, of: $0.handle) }
    isAtEntry = true
    return true
  }
}

@available(*, unavailable, message: "a cursor cannot move to another thread")
extension MainCursor: Sendable {}

extension ReadTransaction {
  /// Returns a cursor before the first entry of the unnamed database. The cursor must end before the transaction.
  @_lifetime(borrow self)
  package borrowing func mainCursor() -> MainCursor { MainCursor(self) }
}
