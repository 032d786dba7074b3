#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The machine's clocks, read the cheapest way: about 12 ns a call on Linux.
///
/// **Resolution.** On Linux the coarse clocks are read, which move with the kernel's timer tick (1 to 10 ms, mostly 4):
/// an entry may live one tick longer or shorter than asked. Lifetimes are seconds and more, and the fine clock costs
/// as much as a small look-up.
///
/// **Sleep.** On Apple platforms the clock goes on while the machine sleeps. Linux's coarse clock does not: an entry with a
/// minute to live, on a laptop closed for an hour, lives on for its minute after waking. There is no coarse clock that
/// counts suspension, and servers do not suspend, so that counting it is asked for, with
/// ``init(countsSuspension:)``, and costs about 20 ns more at each read of an entry that can expire. What is on disk is
/// measured in the time of day, which goes on in either case.
public struct SystemClock: CacheClock {
  @usableFromInline
  let monotonic: clockid_t

  /// Creates the clock.
  ///
  /// - Parameter countsSuspension: Whether time passes while a Linux machine is suspended. On Apple platforms it always
  ///   does.
  public init(countsSuspension: Bool = false) {
    #if canImport(Glibc)
      monotonic = countsSuspension ? CLOCK_BOOTTIME : CLOCK_MONOTONIC_COARSE
    #else
      // Unlike `CLOCK_MONOTONIC` there, it is not derived from the time of day.
      monotonic = CLOCK_MONOTONIC_RAW
    #endif
  }

  /// Nanoseconds on the machine's monotonic clock, since about its start.
  @inlinable
  public func now() -> MonotonicTime {
    let time = read(monotonic)
    return MonotonicTime(
      nanoseconds: UInt64(truncatingIfNeeded: time.tv_sec) &* 1_000_000_000 &+ UInt64(truncatingIfNeeded: time.tv_nsec))
  }

  /// The time of day, as the machine has it.
  @inlinable
  public func wallTime() -> WallTime {
    #if canImport(Glibc)
      let time = read(CLOCK_REALTIME_COARSE)
    #else
      let time = read(CLOCK_REALTIME)
    #endif
    return WallTime(nanosecondsSince1970: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
  }

  @inlinable
  func read(_ clock: clockid_t) -> timespec {
    var time = timespec()
    // The pointer is used for the duration of the call only. It can fail for an unknown clock alone, and these are known.
    _ = unsafe clock_gettime(clock, &time)
    return time
  }
}
