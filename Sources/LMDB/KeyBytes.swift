import CLMDB

/// A key that stores its bytes inline and lends them to a closure.
///
/// A closure is necessary because the bytes are on the stack: a view that outlived the key would read other data.
@usableFromInline
package protocol KeyBytes: ~Copyable {
  /// Calls `body` with the bytes.
  borrowing func withBytes<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result
}

extension Transaction where Self: ~Copyable, Self: ~Escapable {
  /// Returns the value of the key without a copy, or nil if the key is absent. O(log n). The value is aligned to two
  /// bytes only.
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
