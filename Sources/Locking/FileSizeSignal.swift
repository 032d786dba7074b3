#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The signal that ends a process which makes a file larger than the system permits it to.
///
/// While a thread blocks the signal, its writes fail with `EFBIG` instead.
package enum FileSizeSignal {
  /// Blocks the signal in the calling thread until the thread ends.
  package static func block() { _ = changeMask() }

  /// Calls `body` while the calling thread blocks the signal.
  package static func whileBlocked<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var former = changeMask()
    defer {
      // A pending signal would be delivered when the thread no longer blocks it.
      if unsafe sigismember(&former, SIGXFSZ) == 0 {
        discardPending()
        unsafe pthread_sigmask(SIG_SETMASK, &former, nil)
      }
    }
    return try body()
  }

  private static var set: sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, SIGXFSZ)
    return set
  }

  /// Blocks the signal. Returns the former mask of the thread.
  private static func changeMask() -> sigset_t {
    var (set, former) = (set, sigset_t())
    unsafe pthread_sigmask(SIG_BLOCK, &set, &former)
    return former
  }

  private static func discardPending() {
    var pending = sigset_t()
    guard unsafe sigpending(&pending) == 0, unsafe sigismember(&pending, SIGXFSZ) == 1 else { return }
    var set = set
    #if canImport(Darwin)
      var number: Int32 = 0
      unsafe sigwait(&set, &number)
    #else
      // Another thread can take a signal of the process first, so this thread must not wait.
      var none = timespec()
      unsafe sigtimedwait(&set, nil, &none)
    #endif
  }
}
