public import CThreads
public import Synchronization

/// Where threads that read show what they read: the other half of ``ReaderBiasedLock``, one for many of these.
///
/// Each place fills two lines of memory of its own, and each thread has a favourite, so that threads that read at once write to no
/// line that another one needs. A place is one thread's from ``enter(_:)`` to ``leave(_:)``.
@safe
@usableFromInline
package struct VisibleReaders: ~Copyable, @unchecked Sendable {
  // Sendable holds: the pointer never changes, what it points to lives until deinit, and consists of atomics.
  @usableFromInline let places: UnsafeMutableRawPointer
  @usableFromInline let mask: UInt32

  /// What one thread shows.
  @usableFromInline
  struct Place: ~Copyable {
    /// The number of the lock in whose section the thread is; zero for none.
    @usableFromInline let lock = Atomic<UInt32>(0)
    /// What whoever is in the place has counted. Written by that thread.
    @usableFromInline let count = Atomic<Int>(0)
    /// What threads have counted whose favourite it is.
    @usableFromInline let countOutside = Atomic<Int>(0)

    @usableFromInline init() {}
  }

  @usableFromInline static var stride: Int { 128 }

  /// - Parameter count: how many may read at once without waiting for each other; a power of two.
  package init(count: Int) {
    precondition(count > 0 && count & (count - 1) == 0, "the number of places is a power of two")
    mask = UInt32(count - 1)
    unsafe places = .allocate(byteCount: count * Self.stride, alignment: Self.stride)
    for index in 0..<count { unsafe place(at: index).initialize(to: Place()) }
  }

  deinit {
    for index in 0...Int(mask) { unsafe place(at: index).deinitialize(count: 1) }
    unsafe places.deallocate()
  }

  @inlinable
  borrowing func place(at index: Int) -> UnsafeMutablePointer<Place> {
    // Initialised as such for each index up to the mask, which is all that there are.
    unsafe (places + index &* Self.stride).assumingMemoryBound(to: Place.self)
  }

  /// The calling thread's place, which others may have as theirs, too.
  @inlinable
  @inline(__always)
  var favourite: Int { Int(cistern_thread_number() & mask) }

  /// Takes a place, the calling thread's own where that is free, and shows that it reads behind a lock; nil where all are
  /// taken.
  @inlinable
  @inline(__always)
  borrowing func enter(_ lock: UInt32) -> Int? {
    let index = favourite
    return take(index, lock) ? index : enterElsewhere(lock)
  }

  @inlinable
  @inline(__always)
  borrowing func take(_ index: Int, _ lock: UInt32) -> Bool {
    // In one order with what whoever ends the bias does: either that thread sees this one, or this one sees the end.
    unsafe place(at: index).pointee.lock.compareExchange(
      expected: 0, desired: lock, ordering: .sequentiallyConsistent
    ).exchanged
  }

  @usableFromInline
  @inline(never)
  borrowing func enterElsewhere(_ lock: UInt32) -> Int? {
    (0...Int(mask)).first { take($0, lock) }
  }

  @inlinable
  @inline(__always)
  borrowing func leave(_ index: Int) {
    // An optimiser may move the count of a reference past a store, because a store releases nothing. This one does.
    cistern_keep_in_order()
    unsafe place(at: index).pointee.lock.store(0, ordering: .releasing)
  }

  /// Adds one to the count of a place that this thread is in.
  @inlinable
  @inline(__always)
  package borrowing func count(_ index: Int) {
    let count = unsafe place(at: index).pointee.count.load(ordering: .relaxed)
    unsafe place(at: index).pointee.count.store(count &+ 1, ordering: .relaxed)
  }

  /// Adds one to another count, in a place or not.
  @inlinable
  package borrowing func countOutside() {
    unsafe place(at: favourite).pointee.countOutside.add(1, ordering: .relaxed)
  }

  /// What was counted in all places, and what was counted outside.
  package var totals: (inside: Int, outside: Int) {
    (0...Int(mask)).reduce((0, 0)) { sum, index in
      let place = unsafe place(at: index)
      return unsafe (
        sum.0 &+ place.pointee.count.load(ordering: .relaxed),
        sum.1 &+ place.pointee.countOutside.load(ordering: .relaxed)
      )
    }
  }

  /// Waits until nobody reads behind a lock that lets no more readers in.
  @usableFromInline
  borrowing func wait(for lock: UInt32) {
    for index in 0...Int(mask) {
      var attempt: UInt32 = 0
      while unsafe place(at: index).pointee.lock.load(ordering: .sequentiallyConsistent) == lock {
        cistern_wait_shortly(attempt)
        attempt &+= 1
      }
    }
  }
}
