import CLMDB
import Synchronization

/// A snapshot of the environment. Only one thread may use it at a time.
///
/// The compiler ensures that a transaction does not outlive its environment, is not copied or sent to another thread,
/// and outlives its views. An open transaction makes the file grow, because its pages cannot be reused. Keep it
/// short.
@safe
@usableFromInline
package struct ReadTransaction: Transaction, ~Copyable, ~Escapable {
  // Valid for the lifetime of the transaction, which has sole use of it.
  @usableFromInline
  package let handle: OpaquePointer
  @usableFromInline
  package let environment: Unmanaged<Environment>
  /// The place in the pool that the handle returns to, or nil for a surplus transaction, which ends.
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
      // Releasing: the next thread that takes the transaction must see the reset.
      unsafe place.pointee.state.store(UInt(bitPattern: handle), ordering: .releasing)
    } else {
      unsafe environment._withUnsafeGuaranteedRef { unsafe $0.endSurplusRead(handle) }
    }
  }
}

@available(*, unavailable, message: "a transaction cannot move to another thread")
extension ReadTransaction: Sendable {}
