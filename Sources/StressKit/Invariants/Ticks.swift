#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The run's clock: nanoseconds that never go back, the same on every thread. Operations are timed by it and, because
/// a return that is read before a call happened before it, also ordered by it.
enum Ticks {
  static func now() -> UInt64 {
    var time = timespec()
    // The structure is the callee's for the call only.
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}
