import CisternCore
import Testing

@Suite struct ExpiryTests {
  private let now = MonotonicTime(nanoseconds: 5_000)
  private let wall = WallTime(nanosecondsSince1970: 1_000_000)

  @Test func `a lifetime is counted in nanoseconds`() {
    #expect(Expiry.after(.nanoseconds(1)).lifetime == 1)
    #expect(Expiry.after(.seconds(60)).lifetime == 60_000_000_000)
    #expect(Expiry.after(.seconds(3) + .nanoseconds(7)).lifetime == 3_000_000_007)
  }

  @Test func `a duration below one nanosecond counts as one, so that a positive lifetime never refuses the write`() {
    #expect(Expiry.after(Duration(secondsComponent: 0, attosecondsComponent: 1)).lifetime == 1)
    #expect(Expiry.after(Duration(secondsComponent: 1, attosecondsComponent: 1)).lifetime == 1_000_000_001)
  }

  @Test(arguments: [
    Duration.zero, .nanoseconds(-1), .seconds(-60), Duration(secondsComponent: 0, attosecondsComponent: -1),
    .seconds(Int64.min),
  ])
  func `a lifetime of zero or less refuses the write`(_ duration: Duration) {
    #expect(Expiry.after(duration).refusesWrite)
    #expect(!Expiry.after(duration).isNever)
  }

  @Test func `a lifetime that is too long to count never ends`() {
    #expect(Expiry.after(.seconds(Int64.max)) == .never)
    #expect(Expiry.after(.nanoseconds(UInt64.max)) == .never)
    #expect(Expiry.after(.nanoseconds(UInt64.max) + .nanoseconds(1)) == .never)
    #expect(Expiry.after(.nanoseconds(UInt64.max) - .nanoseconds(1)) != .never)
    #expect(!Expiry.never.refusesWrite)
  }

  @Test func `a deadline is now plus the lifetime, and saturates`() {
    #expect(Expiry.after(.nanoseconds(10)).deadline(from: now) == MonotonicTime(nanoseconds: 5_010))
    #expect(Expiry.never.deadline(from: now) == .distantFuture)
    #expect(Expiry.never.deadline(from: MonotonicTime(nanoseconds: 0)) == .distantFuture)
    let late = MonotonicTime(nanoseconds: .max - 5)
    #expect(Expiry.after(.nanoseconds(10)).deadline(from: late) == .distantFuture)
  }

  @Test func `an expiry on disk is the wall time plus the lifetime, and saturates to never`() {
    #expect(Expiry.after(.nanoseconds(10)).wallExpiry(from: wall) == WallTime(nanosecondsSince1970: 1_000_010))
    #expect(Expiry.never.wallExpiry(from: wall) == nil)
    #expect(Expiry.after(.nanoseconds(UInt64.max - 1)).wallExpiry(from: wall) == nil)
    #expect(Expiry.after(.nanoseconds(10)).wallExpiry(from: WallTime(nanosecondsSince1970: .max - 5)) == nil)
    let early = WallTime(nanosecondsSince1970: -100)
    #expect(Expiry.after(.nanoseconds(10)).wallExpiry(from: early) == WallTime(nanosecondsSince1970: -90))
  }

  @Test func `an expiry describes itself`() {
    #expect("\(Expiry.never)" == "never")
    #expect("\(Expiry.after(.seconds(60)))" == "after 60.0 seconds")
  }
}
