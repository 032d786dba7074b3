import CisternTesting
import Testing

@testable import CisternCore

@Suite struct PromotionTests {
  private let now = MonotonicTime(nanoseconds: 5_000)

  private func deadline(created: Int64, expires: Int64?, wallNow: Int64) -> MonotonicTime? {
    let metadata = RecordMetadata(
      created: WallTime(nanosecondsSince1970: created), expires: expires.map(WallTime.init(nanosecondsSince1970:)),
      cost: 1)
    return Timing(of: metadata, wallNow: WallTime(nanosecondsSince1970: wallNow), now: now)?.goneFrom
  }

  @Test func `a promoted record keeps the rest of its lifetime`() {
    #expect(deadline(created: 100, expires: 160, wallNow: 100) == MonotonicTime(nanoseconds: 5_060))
    #expect(deadline(created: 100, expires: 160, wallNow: 130) == MonotonicTime(nanoseconds: 5_030))
    #expect(deadline(created: 100, expires: 160, wallNow: 159) == MonotonicTime(nanoseconds: 5_001))
  }

  @Test func `a record has expired from the instant of its expiry on`() {
    #expect(deadline(created: 100, expires: 160, wallNow: 160) == nil)
    #expect(deadline(created: 100, expires: 160, wallNow: .max) == nil)
  }

  @Test func `a record without an expiry never expires, at any time of the clock`() {
    #expect(deadline(created: 100, expires: nil, wallNow: 99) == .distantFuture)
    #expect(deadline(created: 100, expires: nil, wallNow: .max) == .distantFuture)
  }

  @Test func `a record with a creation time in the future has expired`() {
    #expect(deadline(created: 100, expires: 160, wallNow: 99) == nil)
    #expect(deadline(created: 100, expires: 160, wallNow: .min) == nil)
  }

  @Test func `a record that expires before its creation has expired`() {
    #expect(deadline(created: 100, expires: 100, wallNow: 100) == nil)
    #expect(deadline(created: 100, expires: 50, wallNow: 70) == nil)
  }

  @Test func `extreme times neither trap nor lengthen a lifetime`() {
    #expect(deadline(created: .min, expires: .max, wallNow: .min) == .distantFuture)
    #expect(deadline(created: .min, expires: .max, wallNow: .max - 1) == MonotonicTime(nanoseconds: 5_001))
    let remaining = UInt64(bitPattern: Int64.max) + 1
    #expect(deadline(created: .min, expires: 0, wallNow: .min) == MonotonicTime(nanoseconds: 5_000 + remaining))
  }

  @Test func `no setting of the clock lengthens a lifetime`() {
    let lifetime: Int64 = 60
    let points: [Int64] = [.min, -61, -60, -1, 0, 1, 30, 59, 60, 61, 100, .max]
    for created in points where created <= .max - lifetime {
      for wallNow in points {
        guard let deadline = deadline(created: created, expires: created + lifetime, wallNow: wallNow) else { continue }
        #expect(deadline.nanoseconds - now.nanoseconds <= UInt64(lifetime))
      }
    }
  }

  @Test func `a clock that is set back while a store is open lengthens no lifetime`() {
    let clock = ManualClock()
    let timeline = WallTimeline(clock)
    let created = timeline.time(clock.wallTime(), now: clock.now())
    let expires = Expiry.after(.seconds(60)).wallExpiry(from: created)
    let end = Expiry.after(.seconds(60)).deadline(from: clock.now())
    for _ in 0..<5 {
      clock.advance(by: .seconds(10))
      clock.moveWallTime(by: .seconds(-25))
      let wallNow = timeline.time(clock.wallTime(), now: clock.now())
      let metadata = RecordMetadata(created: created, expires: expires, cost: 1)
      #expect(Timing(of: metadata, wallNow: wallNow, now: clock.now())?.goneFrom == end)
    }
    clock.advance(by: .seconds(10))
    let wallNow = timeline.time(clock.wallTime(), now: clock.now())
    let metadata = RecordMetadata(created: created, expires: expires, cost: 1)
    #expect(Timing(of: metadata, wallNow: wallNow, now: clock.now())?.goneFrom == nil)
  }

  @Test func `a clock that is set forward is believed`() {
    let clock = ManualClock()
    let timeline = WallTimeline(clock)
    clock.moveWallTime(by: .seconds(3_600))
    #expect(timeline.time(clock.wallTime(), now: clock.now()) == clock.wallTime())
  }

  @Test func `a timeline handles the first and the last representable time`() {
    let clock = ManualClock(
      now: MonotonicTime(nanoseconds: 0), wallTime: WallTime(nanosecondsSince1970: .max - 1))
    let timeline = WallTimeline(clock)
    #expect(timeline.time(clock.wallTime(), now: .distantFuture) == clock.wallTime())
    let past = WallTime(nanosecondsSince1970: .min)
    #expect(timeline.time(past, now: MonotonicTime(nanoseconds: 0)) == clock.wallTime())
  }
}
