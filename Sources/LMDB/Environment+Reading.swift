import CLMDB
import Locking
import Synchronization

extension Environment {
  /// Calls `body` with a read transaction, which is one consistent snapshot.
  ///
  /// A read transaction does not wait for writers and does not block them. Calls may be nested. Inside a write
  /// transaction, the snapshot does not contain that transaction's changes.
  @inlinable
  package func withRead<Result: ~Copyable>(
    _ body: (borrowing ReadTransaction) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result {
    let transaction = try beginRead()
    return try body(transaction)
  }

  /// Begins a read transaction that ends with its scope.
  ///
  /// This is for callers whose closures throw other errors, which ``withRead(_:)`` does not pass through.
  @inlinable
  @_lifetime(borrow self)
  package func beginRead() throws(LMDBError) -> ReadTransaction {
    let thread = currentThread()
    let place = unsafe pool.places + ReaderPool.home(of: thread)
    let state = unsafe place.pointee.state.load(ordering: .relaxed)
    // The address of an idle transaction is even and greater than the states of an empty and a closed place.
    if state & 1 == 0, state > ReaderPool.Place.closed,
      ForkCount.current == forkCount,
      unsafe place.pointee.state.compareExchange(
        expected: state, desired: ReaderPool.Place.lent(to: thread), ordering: .acquiring
      ).exchanged
    {
      // The exchange gave this thread sole use of the transaction.
      let handle = unsafe OpaquePointer(bitPattern: state)!
      let status = unsafe mdb_txn_renew(handle)
      if status == MDB_SUCCESS {
        return unsafe ReadTransaction(handle: handle, place: place, environment: self)
      }
      unsafe discard(handle, at: place)
      throw LMDBError(status: status, operation: "begin a read")
    }
    return try beginReadSlowly(thread)
  }

  /// Begins a read transaction when the thread's home place is empty, lent or closed.
  @usableFromInline
  @inline(never)
  @_lifetime(borrow self)
  func beginReadSlowly(_ thread: UInt) throws(LMDBError) -> ReadTransaction {
    if isInherited { throw .forked("begin a read") }
    let home = ReaderPool.home(of: thread)
    // When LMDB has no free reader slot, only idle transactions can be used.
    var isFull = false
    // In the first round over the places of a pool with many transactions, empty places are passed over.
    let rounds = pool.count.load(ordering: .relaxed) < ReaderPool.ampleCount ? 1 : 2
    for step in 0..<ReaderPool.capacity * rounds {
      let needsIdle = isFull || (rounds == 2 && step < ReaderPool.capacity)
      let place = unsafe pool.places + (home + step) % ReaderPool.capacity
      let state = unsafe place.pointee.state.load(ordering: .relaxed)
      if state == ReaderPool.Place.closed { throw .closed("begin a read") }
      guard state & 1 == 0, !needsIdle || state != ReaderPool.Place.empty,
        unsafe place.pointee.state.compareExchange(
          expected: state, desired: ReaderPool.Place.lent(to: thread), ordering: .acquiring
        ).exchanged
      else { continue }
      var handle = unsafe OpaquePointer(bitPattern: state)
      let status =
        if let handle = unsafe handle { unsafe mdb_txn_renew(handle) } else { unsafe beginReader(&handle) }
      if status == MDB_SUCCESS, let handle = unsafe handle {
        if state == ReaderPool.Place.empty { pool.count.add(1, ordering: .relaxed) }
        return unsafe ReadTransaction(handle: handle, place: place, environment: self)
      }
      unsafe discard(state == ReaderPool.Place.empty ? nil : handle, at: place)
      isFull = status == MDB_READERS_FULL
      if !isFull { throw LMDBError(status: status, operation: "begin a read") }
    }
    return try beginSurplusRead(thread)
  }

  /// Begins a reader. If no reader slot is free, frees the slots of dead processes and tries again.
  private func beginReader(_ transaction: inout OpaquePointer?) -> Int32 {
    let status = unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
    var cleared: Int32 = 0
    guard status == MDB_READERS_FULL, unsafe mdb_reader_check(handle, &cleared) == MDB_SUCCESS, cleared > 0 else {
      return status
    }
    return unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
  }

  /// Begins a read transaction outside the pool. The transaction ends with the read.
  @_lifetime(borrow self)
  private func beginSurplusRead(_ thread: UInt) throws(LMDBError) -> ReadTransaction {
    try enter(thread, "begin a read")
    var begun: OpaquePointer?
    let status = unsafe beginReader(&begun)
    guard status == MDB_SUCCESS, let handle = unsafe begun else {
      leave(thread)
      throw LMDBError(status: status, operation: "begin a read")
    }
    return unsafe ReadTransaction(handle: handle, place: nil, environment: self)
  }

  @usableFromInline
  @inline(never)
  func endSurplusRead(_ transaction: OpaquePointer) {
    unsafe mdb_txn_abort(transaction)
    leave(currentThread())
  }

  /// Ends a transaction that LMDB could not renew, and marks its place as empty. The caller holds the place.
  @usableFromInline
  @inline(never)
  func discard(_ transaction: OpaquePointer?, at place: UnsafeMutablePointer<ReaderPool.Place>) {
    if let transaction = unsafe transaction {
      unsafe mdb_txn_abort(transaction)
      pool.count.subtract(1, ordering: .relaxed)
    }
    unsafe place.pointee.state.store(ReaderPool.Place.empty, ordering: .releasing)
  }
}
