import CLMDB
import Synchronization

/// A snapshot of the environment, read by one thread at a time.
///
/// It cannot outlive its environment, be copied or be sent elsewhere, and the views that it gives cannot outlive it: the
/// compiler sees to all of these. While it is open, no page that it can see is used again, so that the file grows: keep it
/// short.
@safe
@usableFromInline
package struct ReadTransaction: Transaction, ~Copyable, ~Escapable {
  // Valid for the transaction's life: the pool, or LMDB, has lent it to this transaction alone.
  @usableFromInline
  package let handle: OpaquePointer
  @usableFromInline
  let environment: Unmanaged<Environment>
  /// Where the transaction goes back to; nil for a surplus one, which ends.
  @usableFromInline
  let place: UnsafeMutablePointer<ReaderPool.Place>?

  @inlinable
  @_lifetime(borrow environment)
  init(handle: OpaquePointer, place: UnsafeMutablePointer<ReaderPool.Place>?, environment: borrowing Environment) {
    unsafe self.handle = handle
    unsafe self.place = place
    unsafe self.environment = Unmanaged.passUnretained(copy environment)
  }

  @inlinable
  deinit {
    if let place = unsafe place {
      unsafe mdb_txn_reset(handle)
      // Releasing: whoever takes the transaction next sees it reset.
      unsafe place.pointee.state.store(UInt(bitPattern: handle), ordering: .releasing)
    } else {
      unsafe environment._withUnsafeGuaranteedRef { unsafe $0.endSurplusRead(handle) }
    }
  }
}

@available(*, unavailable, message: "a transaction stays where it was begun")
extension ReadTransaction: Sendable {}
