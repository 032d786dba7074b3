public import Synchronization

/// State that only the holder of its lock can reach.
///
/// A `Mutex` whose critical sections ThreadSanitizer understands: built with `THREAD_SANITIZER` defined, each section
/// tells the sanitizer which earlier ones it follows. In other builds it is the `Mutex` and nothing more.
@usableFromInline
package struct Guarded<State: ~Copyable>: ~Copyable, Sendable {
  @usableFromInline
  let mutex: Mutex<State>

  #if THREAD_SANITIZER
    /// Any address that is the lock's own for as long as it lives; the lock's value may move before its first use.
    @usableFromInline
    let mark = SanitizerMark()
  #endif

  @inlinable
  package init(_ state: consuming sending State) {
    mutex = Mutex(state)
  }

  /// Runs `body` with the lock held. It must not run anything that a user supplied.
  @inlinable
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    #if THREAD_SANITIZER
      try mutex.withLock { (state: inout sending State) throws(Failure) -> sending Result in
        mark.acquire()
        defer { mark.release() }
        return try body(&state)
      }
    #else
      try mutex.withLock(body)
    #endif
  }
}
