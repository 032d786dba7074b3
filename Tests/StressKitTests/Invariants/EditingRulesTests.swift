import Testing

@testable import StressKit

/// What exercises judge their updates, merges, batches and drafts by, shown what must not happen.
@Suite struct EditingRulesTests {
  @Test func `a field that was there may not be missing`() {
    var history = FieldHistory()
    history.note(["a": 1])
    history.note(["b": 5])
    #expect(FieldHistory.judge(["a": 1, "b": 5, "c": 1], floor: history.floor) == nil)
    #expect(FieldHistory.judge(["a": 1], floor: history.floor) != nil)
    #expect(FieldHistory.judge(nil, floor: history.floor) != nil)
  }

  @Test func `a field may not go back`() {
    var history = FieldHistory()
    history.note(["a": 7])
    history.note(["a": 3])
    #expect(FieldHistory.judge(["a": 8], floor: history.floor) == nil)
    #expect(FieldHistory.judge(["a": 6], floor: history.floor) != nil)
  }

  @Test func `an increment after others makes more of the counter`() {
    var history = CounterHistory()
    let first = history.begin()
    history.end()
    let second = history.begin()
    #expect(history.judgeIncrement(to: 1, endedBefore: first) == nil)
    #expect(history.judgeIncrement(to: 2, endedBefore: second) == nil)
    // The first increment was lost.
    #expect(history.judgeIncrement(to: 1, endedBefore: second) != nil)
    // One was counted twice.
    #expect(history.judgeIncrement(to: 3, endedBefore: second) != nil)
  }

  @Test func `a read finds no fewer increments than had returned, and no more than were called`() {
    var history = CounterHistory()
    for _ in 0..<3 { _ = history.begin() }
    history.end()
    #expect((1...3).allSatisfy { history.judgeRead($0, endedBefore: 1) == nil })
    #expect(history.judgeRead(0, endedBefore: 1) != nil)
    #expect(history.judgeRead(4, endedBefore: 1) != nil)
  }

  @Test func `at rest a counter is what was counted`() {
    var history = CounterHistory()
    _ = history.begin()
    history.end()
    #expect(history.judgeRest(1) == nil)
    #expect(history.judgeRest(0) != nil)
    #expect(history.judgeRest(2) != nil)
  }

  @Test func `a batch is not seen in part`() {
    #expect(PairRule.judge(first: 1, other: 1, firstAgain: 1) == nil)
    #expect(PairRule.judge(first: 1, other: 2, firstAgain: 2) == nil)
    #expect(PairRule.judge(first: nil, other: 2, firstAgain: nil) == nil)
    #expect(PairRule.judge(first: 1, other: 2, firstAgain: 1) != nil)
    #expect(PairRule.judge(first: 1, other: nil, firstAgain: 1) != nil)
  }

  @Test func `at rest a batch is there in whole`() {
    #expect(PairRule.judgeRest(1, 1) == nil)
    #expect(PairRule.judgeRest(nil, nil) == nil)
    #expect(PairRule.judgeRest(1, 2) != nil)
    #expect(PairRule.judgeRest(nil, 2) != nil)
  }

  @Test func `an edit counts once, and not after it was taken back`() {
    #expect(EditRule.judge(3, expected: 3) == nil)
    #expect(EditRule.judge(nil, expected: nil) == nil)
    #expect(EditRule.judge(2, expected: 3) != nil)
    #expect(EditRule.judge(nil, expected: 1) != nil)
    #expect(EditRule.judge(4, expected: 3) != nil)
  }

  @Test func `a draft is not saved in part`() {
    #expect(BalanceRule.judge([5, 15], sum: 20) == nil)
    #expect(BalanceRule.judge([5, 10], sum: 20) != nil)
    #expect(BalanceRule.judge([20, nil], sum: 20) != nil)
  }
}
