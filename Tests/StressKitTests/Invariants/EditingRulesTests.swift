import Testing

@testable import StressKit

/// The rules with which exercises judge updates, merges, batches and drafts, applied to allowed and forbidden
/// results.
@Suite struct EditingRulesTests {
  @Test func `a field that was present must not be missing`() {
    var history = FieldHistory()
    history.note(["a": 1])
    history.note(["b": 5])
    #expect(FieldHistory.judge(["a": 1, "b": 5, "c": 1], floor: history.floor) == nil)
    #expect(FieldHistory.judge(["a": 1], floor: history.floor) != nil)
    #expect(FieldHistory.judge(nil, floor: history.floor) != nil)
  }

  @Test func `a field must not decrease`() {
    var history = FieldHistory()
    history.note(["a": 7])
    history.note(["a": 3])
    #expect(FieldHistory.judge(["a": 8], floor: history.floor) == nil)
    #expect(FieldHistory.judge(["a": 6], floor: history.floor) != nil)
  }

  @Test func `an increment adds to earlier ones`() {
    var history = CounterHistory()
    let first = history.begin()
    history.end()
    let second = history.begin()
    #expect(history.judgeIncrement(to: 1, endedBefore: first) == nil)
    #expect(history.judgeIncrement(to: 2, endedBefore: second) == nil)
    // The first increment was lost.
    #expect(history.judgeIncrement(to: 1, endedBefore: second) != nil)
    // An increment was counted twice.
    #expect(history.judgeIncrement(to: 3, endedBefore: second) != nil)
  }

  @Test func `a read finds at least the completed increments, and at most the begun ones`() {
    var history = CounterHistory()
    for _ in 0..<3 { _ = history.begin() }
    history.end()
    #expect((1...3).allSatisfy { history.judgeRead($0, endedBefore: 1) == nil })
    #expect(history.judgeRead(0, endedBefore: 1) != nil)
    #expect(history.judgeRead(4, endedBefore: 1) != nil)
  }

  @Test func `at rest, a counter equals the number of increments`() {
    var history = CounterHistory()
    _ = history.begin()
    history.end()
    #expect(history.judgeRest(1) == nil)
    #expect(history.judgeRest(0) != nil)
    #expect(history.judgeRest(2) != nil)
  }

  @Test func `a batch is never visible in part`() {
    #expect(PairRule.judge(first: 1, other: 1, firstAgain: 1) == nil)
    #expect(PairRule.judge(first: 1, other: 2, firstAgain: 2) == nil)
    #expect(PairRule.judge(first: nil, other: 2, firstAgain: nil) == nil)
    #expect(PairRule.judge(first: 1, other: 2, firstAgain: 1) != nil)
    #expect(PairRule.judge(first: 1, other: nil, firstAgain: 1) != nil)
  }

  @Test func `at rest, a batch is complete`() {
    #expect(PairRule.judgeRest(1, 1) == nil)
    #expect(PairRule.judgeRest(nil, nil) == nil)
    #expect(PairRule.judgeRest(1, 2) != nil)
    #expect(PairRule.judgeRest(nil, 2) != nil)
  }

  @Test func `an edit counts once, and not after its rollback`() {
    #expect(EditRule.judge(3, expected: 3) == nil)
    #expect(EditRule.judge(nil, expected: nil) == nil)
    #expect(EditRule.judge(2, expected: 3) != nil)
    #expect(EditRule.judge(nil, expected: 1) != nil)
    #expect(EditRule.judge(4, expected: 3) != nil)
  }

  @Test func `a draft is never saved in part`() {
    #expect(BalanceRule.judge([5, 15], sum: 20) == nil)
    #expect(BalanceRule.judge([5, 10], sum: 20) != nil)
    #expect(BalanceRule.judge([20, nil], sum: 20) != nil)
  }
}
