public import Synchronization

/// State that only the holder of its lock can access.
///
/// The type is a `Mutex` whose critical sections ThreadSanitizer understands. In a build that defines
/// `THREAD_SANITIZER`, each section reports to the sanitizer which earlier sections it follows. In other builds, it
/// adds nothing to the `Mutex`.
@usableFromInline
package struct Guarded<State: ~Copyable>: ~Copyable, Sendable {
  @usableFromInline
  let mutex: Mutex<State>

  #if THREAD_SANITIZER
    /// An object whose address identifies the lock for the sanitizer. The lock's own address may change before its
    /// first use.
    @usableFromInline
    let mark = SanitizerMark()
  #endif

  @inlinable
  package init(_ state: consuming sending State) {
    mutex = Mutex(state)
  }

  /// Runs `body` with the lock held.
  ///
  /// - Parameter body: Accesses the state. Must not run code that a user supplied.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
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

  /// Runs `body` with the lock held, if no other thread holds it.
  ///
  /// - Parameter body: Accesses the state. Must not run code that a user supplied.
  /// - Returns: Whether `body` ran.
  @inlinable
  @discardableResult
  package borrowing func withLockIfAvailable(_ body: (inout sending State) -> Void) -> Bool {
    let ran: Void? = mutex.withLockIfAvailable { (state: inout sending State) -> Void in
      #if THREAD_SANITIZER
        mark.acquire()
        defer { mark.release() }
      #endif
      body(&state)
    }
    return ran != nil
  }
}
