#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Returns a number that no other live thread has.
///
/// The number is the address of the thread's control block. It is even and never zero, and `ReaderPool` uses its
/// lowest bit as a flag.
@inlinable
func currentThread() -> UInt {
  #if canImport(Glibc)
    UInt(pthread_self())
  #else
    UInt(bitPattern: pthread_self())
  #endif
}

/// Gives the processor to other threads while the caller polls a condition. Yields 63 times, then sleeps 200
/// microseconds each time.
func backOff(turn: inout Int) {
  turn += 1
  if turn < 64 {
    _ = sched_yield()
  } else {
    usleep(200)
  }
}
