import CLMDB

/// A key that holds its bytes in itself, and shows them to a closure: a view that outlived it would show whatever is on the
/// stack by then.
@usableFromInline
package protocol KeyBytes: ~Copyable {
  /// Calls `body` with the bytes.
  borrowing func withBytes<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result
}

extension Transaction where Self: ~Copyable, Self: ~Escapable {
  /// The value of the key, straight from the map; nil where there is none. Logarithmic. Aligned to two bytes only.
  @inlinable
  @_lifetime(borrow self)
  package borrowing func value(
    forKey key: borrowing some KeyBytes & ~Copyable, in database: Database
  ) throws(LMDBError) -> RawSpan? {
    let handle = unsafe handle
    let found = unsafe try key.withBytes { (bytes) throws(LMDBError) in
      unsafe try lookUp(bytes, in: database.index, of: handle)
    }
    guard let value = unsafe found else { return nil }
    let span = unsafe RawSpan(_unsafeStart: value.mv_data, byteCount: value.mv_size)
    return unsafe _overrideLifetime(span, borrowing: self)
  }
}
