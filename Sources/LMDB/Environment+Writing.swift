import CLMDB

extension Environment {
  /// Calls `body` with a write transaction and commits it. Aborts the transaction if `body` throws.
  ///
  /// The calling thread blocks while another thread or process writes.
  ///
  /// - Throws: An error from `body` or from the commit; nothing changes then. Throws ``LMDBError`` with the code
  ///   `busy` inside a write transaction of the same thread, because LMDB would deadlock.
  @discardableResult
  package func withWrite<Result>(
    _ body: (inout WriteTransaction) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result {
    let thread = currentThread()
    try enter(thread, "begin a write")
    defer { leave(thread) }
    try startWriting(thread)
    defer { activity.withLock { $0.stopWriting(thread) } }
    var begun: OpaquePointer?
    try check(unsafe mdb_txn_begin(handle, nil, 0, &begun), "begin a write")
    var transaction = unsafe WriteTransaction(handle: begun!, environment: self)
    let result = try body(&transaction)
    try transaction.backNewPages()
    try transaction.commit()
    return result
  }

  private func startWriting(_ thread: UInt) throws(LMDBError) {
    if options.isReadOnly {
      throw LMDBError(.readOnly, operation: "begin a write", message: "the environment is read-only")
    }
    let isNested = activity.withLock { state in
      let isNested = state.writers.contains(thread)
      if !isNested { state.writers.append(thread) }
      return isNested
    }
    if isNested {
      throw LMDBError(.busy, operation: "begin a write", message: "the calling thread is inside a write transaction")
    }
  }
}
