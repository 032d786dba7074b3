import CLMDB

/// A write transaction that keeps a position in an index while it changes other databases.
@safe
package struct IndexTransaction: ~Copyable, ~Escapable {
  /// The transaction, for reads and for changes of other databases. These do not affect the position.
  package var transaction: WriteTransaction
  private let index: IndexDatabase?
  // LMDB closes the cursors of a write transaction when the transaction ends. Nothing else closes this one.
  private var position: IndexPosition?

  /// Creates the transaction. Without an index, it has no position.
  @_lifetime(copy transaction)
  package init(_ transaction: consuming WriteTransaction, index: IndexDatabase?) {
    self.transaction = transaction
    self.index = index
    unsafe position = nil
  }

  /// Returns the transaction for its end.
  @_lifetime(copy self)
  package consuming func end() -> WriteTransaction { transaction }

  /// The item at the position, or nil if the position is at no item.
  package var item: IndexItem? { unsafe position?.item }

  /// Moves to the first item of the key with this digest or a greater one. Returns false if no item follows. O(log n).
  package mutating func move(toFirstFrom digest: UInt64, forKey key: IndexKey) throws(LMDBError) -> Bool {
    unsafe try change(key) { (position) throws(LMDBError) in
      unsafe try position.move(toFirstFrom: digest, forKey: key)
    }
  }

  /// Moves to the next item of the key, or after a removal to the item after the removed one. Returns false after the
  /// last item, or if the position is at no item.
  package mutating func moveToNext() throws(LMDBError) -> Bool { unsafe try position?.moveToNext() ?? false }

  /// Inserts an item, which the key must not have. O(log n).
  ///
  /// After the insertion, the position is at no item until it moves to a digest.
  package mutating func insert(_ new: IndexItem, forKey key: IndexKey) throws(LMDBError) {
    unsafe try change(key) { (position) throws(LMDBError) in unsafe try position.insert(new, forKey: key) }
  }

  /// Replaces the address of the item at the position, which the key must not have. Returns false if the position is at
  /// no item.
  ///
  /// The item keeps its place in the file. The position stays at the item.
  @discardableResult
  package mutating func replaceAddress(with address: UInt64) throws(LMDBError) -> Bool {
    unsafe try position?.replaceAddress(with: address) ?? false
  }

  /// Removes the item at the position, which is then at no item until it moves. Returns false if the position is at no
  /// item.
  @discardableResult
  package mutating func removeCurrent() throws(LMDBError) -> Bool { unsafe try position?.removeCurrent() ?? false }

  /// Calls `body` with the position. Opens the cursor at the first call.
  private mutating func change<Result>(
    _ key: IndexKey, _ body: (inout IndexPosition) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result {
    if var current = unsafe position {
      defer { unsafe position = unsafe current }
      return unsafe try body(&current)
    }
    guard let index else { preconditionFailure("the transaction has no index") }
    let handle = unsafe try openCursor(in: index.index, of: transaction.handle)
    var first = unsafe IndexPosition(handle: handle, key: key)
    defer { unsafe position = unsafe first }
    return unsafe try body(&first)
  }
}

@available(*, unavailable, message: "a write transaction cannot move to another thread")
extension IndexTransaction: Sendable {}
