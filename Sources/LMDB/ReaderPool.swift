import CLMDB
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A pool of idle read transactions that keep their reader slots for the next read.
///
/// Renewing a transaction is much faster than beginning one. Each thread first looks at its home place, so threads
/// rarely contend. Taking a transaction is one compare-and-exchange, and returning it is one store.
///
/// `@unchecked Sendable` is safe because the pointer never changes and the state that it points to is atomic.
@safe
@usableFromInline
struct ReaderPool: ~Copyable, @unchecked Sendable {
  /// A place for one transaction. It is padded to two cache lines, so that threads do not share lines.
  @usableFromInline
  struct Place: ~Copyable {
    /// One of the states below, or the address of an idle transaction. Only the holder of a lent place may write its
    /// state.
    @usableFromInline
    let state = Atomic<UInt>(Place.empty)
    let padding:
      (
        UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt
      ) = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

    /// The place has no transaction. Any thread may begin one here.
    @usableFromInline static let empty: UInt = 0
    /// The place is lent to the thread, whose number has its lowest bit set here. Any other even value is the address
    /// of an idle transaction.
    @usableFromInline static func lent(to thread: UInt) -> UInt { thread | 1 }
    /// The environment is closed.
    @usableFromInline static let closed: UInt = 2

    init() {}
  }

  static let capacity = 64
  /// The number of transactions from which on a thread uses another thread's idle one before it begins its own.
  ///
  /// Each transaction keeps a reader slot, and all processes share the slots. No more threads than processors read at
  /// once for long, so that most of them have their own transaction.
  static let ampleCount = min(max(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), 16), capacity)

  /// The pool owns this memory, which never moves.
  @usableFromInline
  let places: UnsafeMutablePointer<Place>
  /// The number of transactions in the places, idle or lent.
  let count = Atomic<Int>(0)

  init() {
    unsafe places = .allocate(capacity: Self.capacity)
    for index in 0..<Self.capacity { unsafe (places + index).initialize(to: Place()) }
  }

  deinit {
    unsafe places.deinitialize(count: Self.capacity)
    unsafe places.deallocate()
  }

  /// Returns the index of the thread's home place: the upper six bits of a multiplicative hash, for 64 places.
  @inlinable
  static func home(of thread: UInt) -> Int {
    Int(truncatingIfNeeded: (UInt64(thread) &* 0x9E37_79B9_7F4A_7C15) >> 58)
  }

  /// Returns whether a transaction is lent to the thread. The result is stable only if the thread itself calls this.
  func lends(to thread: UInt) -> Bool {
    (0..<Self.capacity).contains { index in
      unsafe places[index].state.load(ordering: .relaxed) == Place.lent(to: thread)
    }
  }

  /// Ends every idle transaction and waits for the lent ones. No transaction can be lent afterwards.
  ///
  /// Reads fail as soon as they find a closed place, which may be before this returns.
  func close() {
    var turn = 0
    while !(0..<Self.capacity).reduce(true, { isClosed, index in closePlace(index) && isClosed }) {
      backOff(turn: &turn)
    }
  }

  /// Tries to close the place. Returns false while its transaction is lent.
  private func closePlace(_ index: Int) -> Bool {
    let state = unsafe places[index].state.load(ordering: .acquiring)
    if state == Place.closed { return true }
    guard state & 1 == 0,
      unsafe places[index].state.compareExchange(
        expected: state, desired: Place.closed, ordering: .acquiringAndReleasing
      ).exchanged
    else { return false }
    // The exchange gave this thread sole use of the idle transaction.
    if state != Place.empty { unsafe mdb_txn_abort(OpaquePointer(bitPattern: state)) }
    return true
  }
}
