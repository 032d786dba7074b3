import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// The time of day of a cache.
struct CacheWallTimeTests {
  @Test func `the time of day passes with the clock, also if the clock is set back`() throws {
    let clock = ManualClock()
    let store = try Store.inMemory(memoryLimit: .mebibytes(1), configuration: .ignoringMemoryPressure(clock: clock))
    let cache = try store.cache("numbers", of: Int.self, keyedBy: String.self)
    let first = clock.wallTime()
    #expect(cache.wallTime == first)
    clock.advance(by: .seconds(5))
    #expect(cache.wallTime.nanosecondsSince1970 - first.nanosecondsSince1970 == 5_000_000_000)
    clock.setWallTime(WallTime(nanosecondsSince1970: 0))
    clock.advance(by: .seconds(1))
    #expect(cache.wallTime.nanosecondsSince1970 - first.nanosecondsSince1970 == 6_000_000_000)
    let later = WallTime(nanosecondsSince1970: first.nanosecondsSince1970 + 60_000_000_000)
    clock.setWallTime(later)
    #expect(cache.wallTime == later)
  }

  @Test func `a cache that is opened after the clock was set back has the time of day of its store`() throws {
    let clock = ManualClock()
    let store = try Store.inMemory(memoryLimit: .mebibytes(1), configuration: .ignoringMemoryPressure(clock: clock))
    let early = try store.cache("early", of: Int.self, keyedBy: String.self)
    clock.advance(by: .seconds(5))
    clock.moveWallTime(by: .seconds(-3_600))
    let late = try store.cache("late", of: Int.self, keyedBy: String.self)
    #expect(late.wallTime == early.wallTime)
  }
}
