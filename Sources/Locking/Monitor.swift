#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// State guarded by a lock, with a condition variable to wait for changes. It serves threads that are not tasks,
/// which a continuation cannot resume.
///
/// Sendable because the state is accessed only with the lock held, and the two pointers never change.
@safe
@usableFromInline
package final class Monitor<State>: @unchecked Sendable {
  // Allocated separately, because the address of neither may change. Freed in `deinit`, when no thread can wait any
  // more.
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline let changed: UnsafeMutablePointer<pthread_cond_t>
  // Guarded by `mutex`.
  @usableFromInline var state: State

  @inlinable
  package init(_ state: State) {
    self.state = state
    unsafe mutex = .allocate(capacity: 1)
    unsafe changed = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe changed.initialize(to: pthread_cond_t())
    unsafe pthread_mutex_init(mutex, nil)
    #if canImport(Darwin)
      unsafe pthread_cond_init(changed, nil)
    #else
      var attributes = pthread_condattr_t()
      unsafe pthread_condattr_init(&attributes)
      // Deadlines refer to the clock that never goes back.
      unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      unsafe pthread_cond_init(changed, &attributes)
      unsafe pthread_condattr_destroy(&attributes)
    #endif
  }

  @inlinable
  deinit {
    unsafe pthread_cond_destroy(changed)
    unsafe pthread_mutex_destroy(mutex)
    unsafe changed.deallocate()
    unsafe mutex.deallocate()
  }

  /// Runs `body` with the lock held. Wakes no waiter.
  @inlinable
  package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return body(&state)
  }

  /// Runs `body` with the lock held, then wakes all waiters.
  @inlinable
  package func change<Result>(_ body: (inout State) -> Result) -> Result {
    unsafe pthread_mutex_lock(mutex)
    let result = body(&state)
    unsafe pthread_mutex_unlock(mutex)
    unsafe pthread_cond_broadcast(changed)
    return result
  }

  /// Runs `body` as ``change(_:)`` does, or returns nil if the lock is not free before the deadline. The deadline
  /// is in nanoseconds of the monotonic clock.
  @inlinable
  package func change<Result>(until deadline: UInt64, _ body: (inout State) -> Result) -> Result? {
    while unsafe pthread_mutex_trylock(mutex) != 0 {
      if monotonicNanoseconds() >= deadline { return nil }
      usleep(200)
    }
    let result = body(&state)
    unsafe pthread_mutex_unlock(mutex)
    unsafe pthread_cond_broadcast(changed)
    return result
  }

  /// Blocks the thread until `body` returns a value. `body` runs with the lock held, at first and after each
  /// change.
  @inlinable
  package func wait<Result>(_ body: (inout State) -> Result?) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&state) { return result }
      unsafe pthread_cond_wait(changed, mutex)
    }
  }

  /// Blocks the thread as ``wait(_:)`` does. `body` can also return a deadline in nanoseconds of the monotonic
  /// clock, at which it is called again.
  @inlinable
  package func wait<Result>(orUntil body: (inout State) -> WaitAnswer<Result>) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      switch body(&state) {
      case .done(let result): return result
      case .waiting(until: nil): unsafe pthread_cond_wait(changed, mutex)
      case .waiting(until: let deadline?): wait(until: deadline)
      }
    }
  }

  @inlinable
  func wait(until deadline: UInt64) {
    #if canImport(Darwin)
      let now = monotonicNanoseconds()
      let left = deadline > now ? deadline - now : 0
      var time = timespec(tv_sec: Int(left / 1_000_000_000), tv_nsec: Int(left % 1_000_000_000))
      unsafe pthread_cond_timedwait_relative_np(changed, mutex, &time)
    #else
      var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
      unsafe pthread_cond_timedwait(changed, mutex, &time)
    #endif
  }
}

/// Returns the nanoseconds of a clock that never goes back.
@usableFromInline
package func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
