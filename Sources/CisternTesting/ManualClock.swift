public import Cistern
import Locking

/// A clock that stands still until a test moves it.
///
/// Give it to a store or cache as its clock, and time passes when the test says so:
///
///     let clock = ManualClock()
///     configuration.clock = clock
///     …
///     clock.advance(by: .seconds(61))   // what lived for a minute is gone now
///
/// The monotonic time only goes forward. The time of day goes forward with it, and can be set anywhere on its own, as a
/// user's clock can: back an hour, or forth a year. Safe from every thread; each call is one short critical section.
public final class ManualClock: CacheClock {
  private struct Times {
    var monotonic: UInt64
    var wall: Int64
    /// Who sleeps, in the order in which they came.
    var sleepers: [Sleeper] = []
    var nextSleeper = 0
    /// Sleepers whose task was cancelled before it could sleep.
    var cancelled: Set<Int> = []
  }

  private struct Sleeper {
    let number: Int
    let deadline: UInt64
    let continuation: CheckedContinuation<Void, Never>
  }

  private let times: Guarded<Times>

  /// Creates a clock that shows these times. By default the monotonic clock stands at one second, and the time of day
  /// is 2026-01-01 00:00 UTC.
  public init(
    now: MonotonicTime = MonotonicTime(nanoseconds: 1_000_000_000),
    wallTime: WallTime = WallTime(nanosecondsSince1970: 1_767_225_600_000_000_000)
  ) {
    times = Guarded(Times(monotonic: now.nanoseconds, wall: wallTime.nanosecondsSince1970))
  }

  /// The monotonic time, as the test left it.
  public func now() -> MonotonicTime {
    MonotonicTime(nanoseconds: times.withLock { $0.monotonic })
  }

  /// The time of day, as the test left it.
  public func wallTime() -> WallTime {
    WallTime(nanosecondsSince1970: times.withLock { $0.wall })
  }

  /// Lets time pass, on both clocks. The duration must not be negative; both clocks stop at their last instant.
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

  /// Suspends the task until a test has moved the monotonic clock so far. Throws `CancellationError` when it is cancelled.
  public func sleep(until deadline: MonotonicTime) async throws {
    let number = times.withLock { times in
      times.nextSleeper += 1
      return times.nextSleeper
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let passes = times.withLock { times in
          guard times.monotonic < deadline.nanoseconds, times.cancelled.remove(number) == nil else { return true }
          times.sleepers.append(Sleeper(number: number, deadline: deadline.nanoseconds, continuation: continuation))
          return false
        }
        if passes { continuation.resume() }
      }
    } onCancel: {
      let continuation = times.withLock { times -> CheckedContinuation<Void, Never>? in
        guard let index = times.sleepers.firstIndex(where: { $0.number == number }) else {
          times.cancelled.insert(number)
          return nil
        }
        return times.sleepers.remove(at: index).continuation
      }
      continuation?.resume()
    }
    try Task.checkCancellation()
  }

  /// How many tasks sleep now.
  public var sleeperCount: Int { times.withLock { $0.sleepers.count } }

  /// Sets the time of day; the monotonic clock does not notice.
  public func setWallTime(_ time: WallTime) {
    times.withLock { $0.wall = time.nanosecondsSince1970 }
  }

  /// Moves the time of day, back if the duration is negative; the monotonic clock does not notice.
  public func moveWallTime(by duration: Duration) {
    let step = duration.wholeNanoseconds
    times.withLock { $0.wall = $0.wall.addingClamped(step) }
  }
}

extension Duration {
  /// Its nanoseconds, cut to the range of the type and to whole ones.
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
