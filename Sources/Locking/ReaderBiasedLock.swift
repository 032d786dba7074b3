public import Synchronization

/// A lock that many readers pass without writing to it, for as long as nobody wants it alone.
///
/// While it is biased to readers, one of them shows in ``VisibleReaders`` what it reads, and sees that the bias holds; it
/// writes to no memory that other threads read. Whoever wants the lock alone takes its mutex, ends the bias, and waits for
/// the readers that are on their way, each of which is about to be done. After some reads in a row the lock is biased
/// again: where reads and writes alternate it is a mutex and nothing more.
///
/// After D. Dice and A. Kogan, BRAVO: Biased Locking for Reader-Writer Locks (USENIX ATC 2019).
///
/// - Important: behind the lock nobody may wait for anything. Who wants it alone waits actively for the readers, at last in
///   naps of 50 microseconds, and does not raise the priority of one that was put off its processor.
@usableFromInline
package struct ReaderBiasedLock: ~Copyable, Sendable {
  /// Guards, beside what the lock is for, the number of reads in a row.
  @usableFromInline let mutex = Mutex<UInt8>(0)
  /// Whether readers need not take the mutex. Written by its holder.
  @usableFromInline let isBiased = Atomic<Bool>(false)

  #if THREAD_SANITIZER
    @usableFromInline let mark = SanitizerMark()
  #endif

  /// So many reads in a row, and it is biased to readers. Builds for tests go both ways all the time.
  #if DEBUG
    @inlinable package static var readsToBias: UInt8 { 2 }
  #else
    @inlinable package static var readsToBias: UInt8 { 64 }
  #endif

  @inlinable
  package init() {}

  /// Runs `body` alone.
  ///
  /// - Parameter number: the lock's, among those that share the readers; not zero.
  @inlinable
  package borrowing func withLock<Result>(
    number: UInt32, readers: borrowing VisibleReaders, _ body: () -> Result
  ) -> Result {
    mutex.withLock { readsInARow in
      beginAlone(number: number, readers: readers)
      defer { endAlone() }
      readsInARow = 0
      // What the body reaches may be of any region: the lock guards what is only Sendable.
      nonisolated(unsafe) let result = body()
      return unsafe result
    }
  }

  /// Whether it was biased to readers a moment ago: then it is worth trying to share it.
  @inlinable
  @inline(__always)
  package var isSharable: Bool { isBiased.load(ordering: .relaxed) }

  /// Enters the section among other readers where the lock is biased to them; nil where it is not, and the section has to
  /// be entered by ``withLockToRead(number:readers:mayShare:_:)``.
  ///
  /// Not by a closure: the compiler would make it a function of its own, for as much time again.
  ///
  /// - Parameter number: the lock's, among those that share the readers; not zero.
  /// - Returns: the place to leave with ``endSharing(_:readers:)``.
  @inlinable
  @inline(__always)
  package borrowing func beginSharing(number: UInt32, readers: borrowing VisibleReaders) -> Int? {
    guard let place = readers.enter(number) else { return nil }
    // Seen again from the place: whoever ended the bias since then waits for it.
    guard isBiased.load(ordering: .sequentiallyConsistent) else {
      readers.leave(place)
      return nil
    }
    #if THREAD_SANITIZER
      mark.acquire()
    #endif
    return place
  }

  /// Leaves a section that was entered among other readers.
  @inlinable
  @inline(__always)
  package borrowing func endSharing(_ place: Int, readers: borrowing VisibleReaders) {
    #if THREAD_SANITIZER
      mark.release()
    #endif
    readers.leave(place)
  }

  /// Runs `body` alone, as ``withLock(number:readers:_:)`` does; but counts it as a read, after some of which in a row the
  /// lock is biased to readers.
  ///
  /// - Parameter mayShare: whether it may be biased to readers at all.
  @inlinable
  @inline(__always)
  package borrowing func withLockToRead<Result>(
    number: UInt32, readers: borrowing VisibleReaders, mayShare: Bool, _ body: () -> Result
  ) -> Result {
    mutex.withLock { readsInARow in
      beginAlone(number: number, readers: readers)
      // As above.
      nonisolated(unsafe) let result = body()
      readsInARow &+= 1
      let becomesBiased = mayShare && readsInARow >= Self.readsToBias
      if becomesBiased { readsInARow = 0 }
      endAlone()
      // From here on readers are in the section.
      if becomesBiased { isBiased.store(true, ordering: .releasing) }
      return unsafe result
    }
  }

  /// Waits until no reader is left. With the mutex held.
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

  @usableFromInline
  @inline(never)
  borrowing func endBias(number: UInt32, readers: borrowing VisibleReaders) {
    isBiased.store(false, ordering: .sequentiallyConsistent)
    readers.wait(for: number)
  }
}
