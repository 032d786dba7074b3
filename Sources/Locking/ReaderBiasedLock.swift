public import Synchronization

/// A reader-biased lock: many readers enter it at once without writing to shared memory, as long as no writer needs
/// it.
///
/// If the lock is biased to readers, a reader publishes in ``VisibleReaders`` which lock it reads behind. Then it
/// checks that the bias still holds. It writes to no memory that other readers access.
///
/// A writer takes the mutex, ends the bias, and waits for the visible readers. Each of them is about to leave. After
/// a number of reads in a row, the lock becomes biased again. If reads and writes alternate, the lock is an ordinary
/// mutex.
///
/// The algorithm follows D. Dice and A. Kogan, BRAVO: Biased Locking for Reader-Writer Locks (USENIX ATC 2019).
///
/// - Important: No thread may wait for another event inside a critical section. A writer waits actively for the
///   readers, at last in sleeps of 50 microseconds. It does not raise the priority of a reader that was preempted.
@usableFromInline
package struct ReaderBiasedLock: ~Copyable, Sendable {
  /// The mutex of the lock, which guards the number of reads in a row too.
  @usableFromInline let mutex = Mutex<UInt8>(0)
  /// Whether readers need not take the mutex. Written only by the mutex's holder.
  @usableFromInline let isBiased = Atomic<Bool>(false)

  #if THREAD_SANITIZER
    @usableFromInline let mark = SanitizerMark()
  #endif

  /// The number of reads in a row after which the lock becomes biased to readers. Debug builds use a small number, so
  /// that tests exercise both paths.
  #if DEBUG
    @inlinable package static var readsToBias: UInt8 { 2 }
  #else
    @inlinable package static var readsToBias: UInt8 { 64 }
  #endif

  @inlinable
  package init() {}

  /// Runs `body` with exclusive access.
  ///
  /// - Parameters:
  ///   - number: The number of this lock among the locks that share `readers`. Not zero.
  ///   - readers: The visible readers.
  ///   - body: The critical section.
  /// - Returns: The result of `body`.
  @inlinable
  package borrowing func withLock<Result>(
    number: UInt32, readers: borrowing VisibleReaders, _ body: () -> Result
  ) -> Result {
    mutex.withLock { readsInARow in
      beginAlone(number: number, readers: readers)
      defer { endAlone() }
      readsInARow = 0
      // The result may be in any isolation region, because the lock guards only Sendable state.
      nonisolated(unsafe) let result = body()
      return unsafe result
    }
  }

  /// Whether the lock was biased to readers a moment ago, so that an attempt to share it is worthwhile.
  @inlinable
  @inline(__always)
  package var isSharable: Bool { isBiased.load(ordering: .relaxed) }

  /// Runs `body` with exclusive access, if no thread holds the mutex. Waits for visible readers, but not for another
  /// writer.
  ///
  /// The parameters are those of ``withLock(number:readers:_:)``.
  ///
  /// - Returns: The result of `body`; nil if it did not run.
  @inlinable
  package borrowing func withLockIfAvailable<Result>(
    number: UInt32, readers: borrowing VisibleReaders, _ body: () -> Result
  ) -> Result? {
    mutex.withLockIfAvailable { readsInARow in
      beginAlone(number: number, readers: readers)
      defer { endAlone() }
      readsInARow = 0
      // The result may be in any isolation region, because the lock guards only Sendable state.
      nonisolated(unsafe) let result = body()
      return unsafe result
    }
  }

  /// Enters the critical section together with other readers, if the lock is biased to them.
  ///
  /// The function takes no closure, because the compiler would compile the closure as a separate function.
  ///
  /// - Parameters:
  ///   - number: The number of this lock among the locks that share `readers`. Not zero.
  ///   - readers: The visible readers.
  /// - Returns: The place to pass to ``endSharing(_:readers:)``. Nil if the caller must use
  ///   ``withLockToRead(number:readers:mayShare:_:)`` instead.
  @inlinable
  @inline(__always)
  package borrowing func beginSharing(number: UInt32, readers: borrowing VisibleReaders) -> Int? {
    guard let place = readers.enter(number) else { return nil }
    // Checked after the reader is visible: a writer that ends the bias after this check waits for this reader.
    guard isBiased.load(ordering: .sequentiallyConsistent) else {
      readers.leave(place)
      return nil
    }
    #if THREAD_SANITIZER
      mark.acquire()
    #endif
    return place
  }

  /// Leaves a critical section that was entered with ``beginSharing(number:readers:)``.
  @inlinable
  @inline(__always)
  package borrowing func endSharing(_ place: Int, readers: borrowing VisibleReaders) {
    #if THREAD_SANITIZER
      mark.release()
    #endif
    readers.leave(place)
  }

  /// The effect of a critical section on the bias of its lock.
  @usableFromInline
  package enum Access {
    /// Other readers could have shared the section.
    case read
    /// The section needed exclusive access. A biased lock would have ended its bias for it.
    case change
  }

  /// Runs `body` with exclusive access, and counts it as a read unless it reports a change. After a number of reads in
  /// a row, the lock becomes biased.
  ///
  /// - Parameters:
  ///   - number: The number of this lock among the locks that share `readers`. Not zero.
  ///   - readers: The visible readers.
  ///   - mayShare: Whether the lock may become biased to readers.
  ///   - body: The critical section, which may report a change.
  /// - Returns: The result of `body`.
  @inlinable
  @inline(__always)
  package borrowing func withLockToRead<Result>(
    number: UInt32, readers: borrowing VisibleReaders, mayShare: Bool, _ body: (inout Access) -> Result
  ) -> Result {
    mutex.withLock { readsInARow in
      beginAlone(number: number, readers: readers)
      var access = Access.read
      // The result may be in any isolation region, because the lock guards only Sendable state.
      nonisolated(unsafe) let result = body(&access)
      // A bias is expensive to end, so sections that would end it must not lead to it.
      readsInARow = access == .read ? readsInARow &+ 1 : 0
      let becomesBiased = mayShare && readsInARow >= Self.readsToBias
      if becomesBiased { readsInARow = 0 }
      endAlone()
      // From here on, other readers may be in the critical section.
      if becomesBiased { isBiased.store(true, ordering: .releasing) }
      return unsafe result
    }
  }

  /// Ends the bias, and waits until no reader is left. Called with the mutex held.
  @inlinable
  @inline(__always)
  borrowing func beginAlone(number: UInt32, readers: borrowing VisibleReaders) {
    if isBiased.load(ordering: .relaxed) { endBias(number: number, readers: readers) }
    #if THREAD_SANITIZER
      mark.acquire()
    #endif
  }

  @inlinable
  @inline(__always)
  borrowing func endAlone() {
    #if THREAD_SANITIZER
      mark.release()
    #endif
  }

  /// Ends the bias, and waits for the visible readers of this lock. Called with the mutex held.
  @usableFromInline
  @inline(never)
  borrowing func endBias(number: UInt32, readers: borrowing VisibleReaders) {
    isBiased.store(false, ordering: .sequentiallyConsistent)
    readers.wait(for: number)
  }
}
