import CisternTesting
import Testing

/// Tests of the model itself: which histories of one key it accepts.
struct KeyModelTests {
  private func isRight(_ operations: [KeyModel.Operation], forgets: Bool = false) -> Bool {
    let history = operations.enumerated().map {
      TimedOperation($1, called: UInt64($0 * 2), returned: UInt64($0 * 2 + 1))
    }
    return LinearizabilityChecker.check(history, against: KeyModel(forgets: forgets))
      .isLinearizable
  }

  @Test func `a load fetches only if no value is cached, and once`() {
    #expect(isRight([.began(1), .joined(1), .completed(1), .found(1), .joined(1)]))
    #expect(!isRight([.began(1), .began(2)], forgets: true))
    #expect(!isRight([.set(1), .began(2)]))
    #expect(isRight([.set(1), .began(2), .completed(2), .found(2)], forgets: true))
  }

  @Test func `a write that overtakes a flight wins, and loads that joined before it get the flight's value`() {
    #expect(isRight([.began(1), .set(2), .completed(1), .found(2)]))
    #expect(isRight([.began(1), .removed, .completed(1), .missed, .began(2)]))
    #expect(!isRight([.began(1), .removed, .completed(1), .found(1)], forgets: true))
    #expect(!isRight([.began(1), .removed, .joined(1), .completed(1)], forgets: true))
    #expect(isRight([.began(1), .updated(from: nil, to: 3), .completed(1), .found(3)]))
    #expect(isRight([.began(1), .updated(from: nil, to: nil), .completed(1), .missed]))
    #expect(!isRight([.began(1), .updated(from: nil, to: nil), .completed(1), .found(1)], forgets: true))
  }

  @Test func `a value disappears only if it may be forgotten`() {
    #expect(!isRight([.set(1), .missed]))
    #expect(isRight([.set(1), .missed], forgets: true))
    #expect(!isRight([.set(1), .missed, .found(1)], forgets: true))
    #expect(!isRight([.set(1), .updated(from: nil, to: 2)]))
    #expect(isRight([.set(1), .missed, .updated(from: 1, to: 2), .found(2)], forgets: true))
    #expect(!isRight([.set(1), .missed, .removed, .updated(from: 1, to: 2)], forgets: true))
  }

  @Test func `a flight that fails or is abandoned leaves no entry`() {
    #expect(isRight([.began(1), .joinedFailure(1), .failed(1), .missed, .began(2)]))
    #expect(!isRight([.began(1), .failed(1), .joinedFailure(1)]))
    #expect(isRight([.left(1), .missed, .began(2)]))
    #expect(isRight([.left(1), .missed, .joined(1), .found(1)]))
    #expect(!isRight([.left(1), .found(1), .began(2)]))
    #expect(!isRight([.left(1), .set(2), .found(1)], forgets: true))
    #expect(!isRight([.left(1), .began(2), .found(1)], forgets: true))
  }
}
