import Testing

@testable import StressKit

@Suite struct StampTests {
  /// Returns the stamp of a value. `#expect` cannot use a span, so the call is outside of it.
  private func stamp(of value: [UInt8], run: UInt64) -> Stamp? {
    Stamp(of: value.rawSpan, run: run)
  }

  private func matches(_ stamp: Stamp, _ value: [UInt8]) -> Bool {
    stamp.matchesPayload(of: value.rawSpan)
  }

  @Test(arguments: [0, 1, 7, 8, 9, 1_000])
  func `a stamp reads back from its value`(size: Int) {
    let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0 * 7) }
    let stamp = Stamp(run: 5, key: 123_456, version: .fetched(99), payload: payload)
    let value = stamp.value(payload: payload)
    #expect(value.count == Stamp.size + size)
    #expect(self.stamp(of: value, run: 5) == stamp)
    #expect(matches(stamp, value))
  }

  @Test func `values of other runs are foreign`() throws {
    let value = Stamp(run: 5, key: 1, version: .written(2), payload: []).value(payload: [])
    let foreign = try #require(stamp(of: value, run: 6))
    guard case .foreign(run: 5, number: _) = foreign.version else {
      Issue.record("\(foreign.version) is not foreign")
      return
    }
    #expect(foreign.version != stamp(of: value, run: 5)?.version)
  }

  @Test func `other bytes have no stamp`() {
    #expect(stamp(of: [], run: 1) == nil)
    #expect(stamp(of: [UInt8](repeating: 1, count: 100), run: 1) == nil)
  }

  @Test(arguments: [0, 8, 13, 99])
  func `a changed byte is noticed`(position: Int) {
    let payload = [UInt8](repeating: 3, count: 100)
    let stamp = Stamp(run: 1, key: 1, version: .written(1), payload: payload)
    var value = stamp.value(payload: payload)
    value[Stamp.size + position] ^= 1
    #expect(!matches(stamp, value))
  }
}
