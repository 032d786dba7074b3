import Cistern
import CisternTesting
import Testing

struct ManualClockTests {
  @Test func `time stands still until it is advanced, and then both clocks move`() {
    let clock = ManualClock(now: MonotonicTime(nanoseconds: 5), wallTime: WallTime(nanosecondsSince1970: -7))
    #expect(clock.now().nanoseconds == 5)
    #expect(clock.wallTime().nanosecondsSince1970 == -7)
    clock.advance(by: .nanoseconds(10))
    #expect(clock.now().nanoseconds == 15)
    #expect(clock.wallTime().nanosecondsSince1970 == 3)
  }

  @Test func `the wall time moves back and forward without the monotonic clock`() {
    let clock = ManualClock()
    let (start, day) = (clock.now(), clock.wallTime())
    clock.moveWallTime(by: .seconds(-3_600))
    #expect(clock.wallTime().nanosecondsSince1970 == day.nanosecondsSince1970 - 3_600_000_000_000)
    clock.setWallTime(WallTime(nanosecondsSince1970: 42))
    #expect(clock.wallTime().nanosecondsSince1970 == 42)
    #expect(clock.now() == start)
  }

  @Test func `durations beyond the range stop at the last instant`() {
    let clock = ManualClock()
    clock.advance(by: .seconds(Int64.max))
    clock.advance(by: .seconds(Int64.max))
    clock.advance(by: .seconds(Int64.max))
    #expect(clock.now() == .distantFuture)
    #expect(clock.wallTime().nanosecondsSince1970 == .max)
    clock.moveWallTime(by: .seconds(Int64.min))
    clock.moveWallTime(by: .seconds(Int64.min))
    clock.moveWallTime(by: .seconds(Int64.min))
    #expect(clock.wallTime().nanosecondsSince1970 == .min)
  }
}
