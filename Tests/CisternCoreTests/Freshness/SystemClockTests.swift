import CisternCore
import Testing

@Suite struct SystemClockTests {
  @Test(arguments: [false, true])
  func `the monotonic clock never goes back`(countsSuspension: Bool) {
    let clock = SystemClock(countsSuspension: countsSuspension)
    var last = clock.now()
    for _ in 0..<10_000 {
      let now = clock.now()
      #expect(now >= last)
      last = now
    }
    #expect(last > MonotonicTime(nanoseconds: 0))
  }

  @Test func `the wall time is after the year 2020`() {
    let year2020: Int64 = 1_577_836_800_000_000_000
    #expect(SystemClock().wallTime() > WallTime(nanosecondsSince1970: year2020))
  }
}
