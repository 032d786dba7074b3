#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The clock of a run, in nanoseconds. It never goes back, and is the same on every thread.
///
/// The clock also orders operations: if a return has an earlier time than a call, it happened before the call.
enum Ticks {
  static func now() -> UInt64 {
    var time = timespec()
    // The call writes the structure, and does not keep its address.
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}
