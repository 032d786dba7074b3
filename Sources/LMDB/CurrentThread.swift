#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A number that no other live thread has. Even, and never zero: it is the address of the thread's own block.
@inlinable
func currentThread() -> UInt {
  #if canImport(Glibc)
    UInt(pthread_self())
  #else
    UInt(bitPattern: pthread_self())
  #endif
}

/// Lets other threads run while waiting for what has no queue to wait in: a few turns, then short sleeps.
func backOff(turn: inout Int) {
  turn += 1
  if turn < 64 {
    _ = sched_yield()
  } else {
    usleep(200)
  }
}
