import CLMDB
import Synchronization

/// Reader slots that were begun and are kept, reset, for the next read.
///
/// Renewing one costs a fraction of beginning one. Each thread has a place of its own to look first, so that threads
/// do not meet: taking a transaction is one compare-and-exchange on a line that the thread owns, returning it one store.
///
/// Sendable: the pointer never changes, and what it points to is atomic.
@safe
@usableFromInline
struct ReaderPool: ~Copyable, @unchecked Sendable {
  /// A place for one transaction, on a cache line (and its neighbour) of its own.
  @usableFromInline
  struct Place: ~Copyable {
    /// One of the states below. A lent place is only written by its holder.
    @usableFromInline
    let state = Atomic<UInt>(Place.empty)
    let padding:
      (
        UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt
      ) = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

    /// No transaction was begun here, and anyone may.
    @usableFromInline static let empty: UInt = 0
    /// Lent: the holder's thread with the lowest bit set. Any other even number is an idle transaction's address.
    @usableFromInline static func lent(to thread: UInt) -> UInt { thread | 1 }
    /// The environment is closed.
    @usableFromInline static let closed: UInt = 2

    init() {}
  }

  static let capacity = 64

  /// Owned by the pool; never moves.
  @usableFromInline
  let places: UnsafeMutablePointer<Place>

  init() {
    unsafe places = .allocate(capacity: Self.capacity)
    for index in 0..<Self.capacity { unsafe (places + index).initialize(to: Place()) }
  }

  deinit {
    unsafe places.deinitialize(count: Self.capacity)
    unsafe places.deallocate()
  }

  /// Where a thread looks first: the upper six bits of a multiplicative hash, for 64 places.
  @inlinable
  static func home(of thread: UInt) -> Int {
    Int(truncatingIfNeeded: (UInt64(thread) &* 0x9E37_79B9_7F4A_7C15) >> 58)
  }

  /// Whether any transaction is lent to the thread; only the thread itself gets an answer that lasts.
  func lends(to thread: UInt) -> Bool {
    (0..<Self.capacity).contains { index in
      unsafe places[index].state.load(ordering: .relaxed) == Place.lent(to: thread)
    }
  }

  /// Ends every idle transaction, and waits for the lent ones to come back: none is lent from then on. Whoever asks
  /// meanwhile is refused as soon as the first idle ones have ended.
  func close() {
    var turn = 0
    while !(0..<Self.capacity).reduce(true, { isClosed, index in closePlace(index) && isClosed }) {
      backOff(turn: &turn)
    }
  }

  /// Whether the place is closed now; false while its transaction is lent.
  private func closePlace(_ index: Int) -> Bool {
    let state = unsafe places[index].state.load(ordering: .acquiring)
    if state == Place.closed { return true }
    guard state & 1 == 0,
      unsafe places[index].state.compareExchange(
        expected: state, desired: Place.closed, ordering: .acquiringAndReleasing
      ).exchanged
    else { return false }
    // The exchange made the idle transaction this thread's own.
    if state != Place.empty { unsafe mdb_txn_abort(OpaquePointer(bitPattern: state)) }
    return true
  }
}
