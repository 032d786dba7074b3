#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The machine's clocks, read in the fastest way.
///
/// **Resolution.** On Linux, this type reads the coarse clocks, which advance with the kernel's timer tick (1 to 10
/// ms, usually 4 ms). An entry may live one tick longer or shorter than specified. Lifetimes are usually seconds or
/// more, and a read of the precise clock takes as long as a short look-up.
///
/// **Suspension.** On Apple platforms, the clock advances while the machine sleeps. On Linux, the coarse clock does
/// not: the lifetime of an entry in memory pauses while the machine is suspended. Pass `true` to
/// ``init(countsSuspension:)`` to count this time. Each read of the clock then takes longer, because no coarse
/// clock counts suspension. Lifetimes on disk use the time of day, which advances in either case.
public struct SystemClock: CacheClock {
  @usableFromInline
  let monotonic: clockid_t

  /// Creates the clock.
  ///
  /// - Parameter countsSuspension: Whether time passes while a Linux machine is suspended. On Apple platforms, it
  ///   always passes.
  public init(countsSuspension: Bool = false) {
    #if canImport(Glibc)
      monotonic = countsSuspension ? CLOCK_BOOTTIME : CLOCK_MONOTONIC_COARSE
    #else
      // On Darwin, `CLOCK_MONOTONIC` is derived from the time of day, and this clock is not.
      monotonic = CLOCK_MONOTONIC_RAW
    #endif
  }

  /// Returns the time of the machine's monotonic clock, in nanoseconds since about its start.
  @inlinable
  public func now() -> MonotonicTime {
    let time = read(monotonic)
    return MonotonicTime(
      nanoseconds: UInt64(truncatingIfNeeded: time.tv_sec) &* 1_000_000_000 &+ UInt64(truncatingIfNeeded: time.tv_nsec))
  }

  /// Returns the machine's time of day.
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
    // The pointer is used only during the call. The call fails only for an unknown clock, and these clocks are
    // known.
    _ = unsafe clock_gettime(clock, &time)
    return time
  }
}
