public import CisternCore
import Locking

/// A clock that stands still until a test moves it.
///
/// Use it as the clock of a store or a cache. Time then passes only when the test advances it:
///
///     let clock = ManualClock()
///     configuration.clock = clock
///     …
///     clock.advance(by: .seconds(61))   // values with a lifetime of one minute are expired
///
/// The monotonic time never goes back. The time of day advances with it. A test can also set the time of day
/// separately, forward or back, as the user of a device can.
///
/// Every thread can use the clock. Each call is one short critical section.
public final class ManualClock: CacheClock {
  private struct Times {
    var monotonic: UInt64
    var wall: Int64
    /// The tasks that sleep, in the order in which they began.
    var sleepers: [Sleeper] = []
    var nextSleeper = 0
    /// The numbers of tasks that have not slept yet, and were not cancelled.
    var arriving: Set<Int> = []
  }

  private struct Sleeper {
    let number: Int
    let deadline: UInt64
    let continuation: CheckedContinuation<Void, Never>
  }

  private let times: Guarded<Times>

  /// Creates a clock that stands at the given times.
  ///
  /// - Parameters:
  ///   - now: The monotonic time. The default is one second.
  ///   - wallTime: The time of day. The default is 2026-01-01 00:00 UTC.
  public init(
    now: MonotonicTime = MonotonicTime(nanoseconds: 1_000_000_000),
    wallTime: WallTime = WallTime(nanosecondsSince1970: 1_767_225_600_000_000_000)
  ) {
    times = Guarded(Times(monotonic: now.nanoseconds, wall: wallTime.nanosecondsSince1970))
  }

  /// Returns the monotonic time.
  public func now() -> MonotonicTime {
    MonotonicTime(nanoseconds: times.withLock { $0.monotonic })
  }

  /// Returns the time of day.
  public func wallTime() -> WallTime {
    WallTime(nanosecondsSince1970: times.withLock { $0.wall })
  }

  /// Advances both the monotonic time and the time of day, and wakes the tasks whose deadline has passed.
  ///
  /// Both times stop at the last instant that they can represent.
  ///
  /// - Parameter duration: The time to advance. Fractions of a nanosecond are ignored.
  /// - Precondition: `duration` is not negative.
  public func advance(by duration: Duration) {
    precondition(duration >= .zero, "a monotonic clock does not go back: move the time of day with moveWallTime(by:)")
    let step = duration.wholeNanoseconds
    let woken = times.withLock { times in
      times.monotonic = times.monotonic.addingClamped(UInt64(step))
      times.wall = times.wall.addingClamped(step)
      let now = times.monotonic
      let woken = times.sleepers.filter { $0.deadline <= now }
      times.sleepers.removeAll { $0.deadline <= now }
      return woken
    }
    for sleeper in woken.sorted(by: { ($0.deadline, $0.number) < ($1.deadline, $1.number) }) {
      sleeper.continuation.resume()
    }
  }

  /// Suspends the calling task until the monotonic time reaches a deadline.
  ///
  /// - Parameter deadline: The monotonic time at which the task continues.
  /// - Throws: `CancellationError` when the task is cancelled.
  public func sleep(until deadline: MonotonicTime) async throws {
    let number = times.withLock { times in
      times.nextSleeper += 1
      times.arriving.insert(times.nextSleeper)
      return times.nextSleeper
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let passes = times.withLock { times in
          let isCancelled = times.arriving.remove(number) == nil
          if isCancelled || times.monotonic >= deadline.nanoseconds { return true }
          times.sleepers.append(Sleeper(number: number, deadline: deadline.nanoseconds, continuation: continuation))
          return false
        }
        if passes { continuation.resume() }
      }
    } onCancel: {
      let continuation = times.withLock { times -> CheckedContinuation<Void, Never>? in
        guard let index = times.sleepers.firstIndex(where: { $0.number == number }) else {
          times.arriving.remove(number)
          return nil
        }
        return times.sleepers.remove(at: index).continuation
      }
      continuation?.resume()
    }
    try Task.checkCancellation()
  }

  /// The number of tasks that sleep now.
  public var sleeperCount: Int { times.withLock { $0.sleepers.count } }

  /// Sets the time of day. The monotonic time does not change.
  ///
  /// - Parameter time: The new time of day.
  public func setWallTime(_ time: WallTime) {
    times.withLock { $0.wall = time.nanosecondsSince1970 }
  }

  /// Moves the time of day. The monotonic time does not change.
  ///
  /// - Parameter duration: The difference to the current time of day. A negative duration moves it back.
  public func moveWallTime(by duration: Duration) {
    let step = duration.wholeNanoseconds
    times.withLock { $0.wall = $0.wall.addingClamped(step) }
  }
}

extension Duration {
  /// The length in whole nanoseconds, clamped to the range of the type.
  fileprivate var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? (seconds < 0 ? .min : .max) : product.addingClamped(attoseconds / 1_000_000_000)
  }
}

extension FixedWidthInteger {
  fileprivate func addingClamped(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }
}
