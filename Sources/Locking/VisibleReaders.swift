public import CSupport
public import Synchronization

/// The table of visible readers of a ``ReaderBiasedLock``. Many locks share one table.
///
/// Each place fills two cache lines, and each thread has a preferred place. Threads that read at the same time
/// therefore write to separate lines. A thread has a place exclusively from ``enter(_:)`` to ``leave(_:)``.
@safe
@usableFromInline
package struct VisibleReaders: ~Copyable, @unchecked Sendable {
  // Sendable holds: the pointer never changes, and its memory lives until `deinit` and contains only atomics.
  @usableFromInline let places: UnsafeMutableRawPointer
  @usableFromInline let mask: UInt32

  /// The state of one reader.
  @usableFromInline
  struct Place: ~Copyable {
    /// The number of the lock in whose critical section the reader is; zero for none.
    @usableFromInline let lock = Atomic<UInt32>(0)
    /// The count of all threads that had the place. Only the thread that has the place writes it.
    @usableFromInline let count = Atomic<Int>(0)
    /// The count of all threads whose preferred place it is. Those threads add to it concurrently.
    @usableFromInline let countOutside = Atomic<Int>(0)

    @usableFromInline init() {}
  }

  /// The bytes from one place to the next: two cache lines.
  @usableFromInline static var stride: Int { 128 }

  /// Creates a table.
  ///
  /// - Parameter count: The number of threads that can read at the same time without waiting for each other. A power
  ///   of two.
  package init(count: Int) {
    precondition(count > 0 && count & (count - 1) == 0, "the number of places must be a power of two")
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
    // The memory is initialized as a place for each index up to `mask`. All callers pass such an index.
    unsafe (places + index &* Self.stride).assumingMemoryBound(to: Place.self)
  }

  /// The preferred place of the calling thread. Several threads may prefer the same place.
  @inlinable
  @inline(__always)
  var preferredPlace: Int { Int(cistern_thread_number() & mask) }

  /// Takes a place, and makes the calling thread visible as a reader behind a lock.
  ///
  /// - Parameter lock: The number of the lock. Not zero.
  /// - Returns: The place, which is the thread's preferred one if that is free; nil if all places are taken.
  @inlinable
  @inline(__always)
  borrowing func enter(_ lock: UInt32) -> Int? {
    let index = preferredPlace
    return take(index, lock) ? index : enterElsewhere(lock)
  }

  /// Takes a place if it is free. Returns whether it was.
  @inlinable
  @inline(__always)
  borrowing func take(_ index: Int, _ lock: UInt32) -> Bool {
    // Sequentially consistent, as is the end of the bias. Either the writer sees this reader, or this reader sees the
    // end.
    unsafe place(at: index).pointee.lock.compareExchange(
      expected: 0, desired: lock, ordering: .sequentiallyConsistent
    ).exchanged
  }

  /// Takes the first free place; nil if all places are taken.
  @usableFromInline
  @inline(never)
  borrowing func enterElsewhere(_ lock: UInt32) -> Int? {
    (0...Int(mask)).first { take($0, lock) }
  }

  /// Leaves a place, with all effects of the critical section visible to a waiting writer.
  @inlinable
  @inline(__always)
  borrowing func leave(_ index: Int) {
    // The optimizer may move reference counting past an atomic store, because it assumes that the store releases no
    // object. After this store, a writer may release the objects that the reader used.
    cistern_keep_in_order()
    unsafe place(at: index).pointee.lock.store(0, ordering: .releasing)
  }

  /// Increments the count of a place that the calling thread has.
  @inlinable
  @inline(__always)
  package borrowing func count(_ index: Int) {
    let count = unsafe place(at: index).pointee.count.load(ordering: .relaxed)
    unsafe place(at: index).pointee.count.store(count &+ 1, ordering: .relaxed)
  }

  /// Increments the count for events outside a place. The calling thread need not have a place.
  @inlinable
  package borrowing func countOutside() {
    unsafe place(at: preferredPlace).pointee.countOutside.add(1, ordering: .relaxed)
  }

  /// The sums of the counts inside places and of the counts outside.
  package var totals: (inside: Int, outside: Int) {
    (0...Int(mask)).reduce((0, 0)) { sum, index in
      let place = unsafe place(at: index)
      return unsafe (
        sum.0 &+ place.pointee.count.load(ordering: .relaxed),
        sum.1 &+ place.pointee.countOutside.load(ordering: .relaxed)
      )
    }
  }

  /// Waits until no reader is behind a lock. The lock's bias has ended, so no new readers enter.
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
