import Testing

@testable import StressKit

struct CopyRuleTests {
  private func judge(_ left: UInt64?, _ right: UInt64?, ended: UInt64, begun: UInt64) -> String? {
    CopyRule.judge(
      left, right, before: CopyRule.Batches(begun: ended, ended: ended),
      after: CopyRule.Batches(begun: begun, ended: ended))
  }

  @Test func `a copy has each batch that had ended, and none that was not called`() {
    #expect(judge(3, 3, ended: 3, begun: 5) == nil)
    #expect(judge(5, 5, ended: 3, begun: 5) == nil)
    #expect(judge(nil, nil, ended: 0, begun: 1) == nil)
    #expect(judge(2, 2, ended: 3, begun: 5) == "the copy has batch 2, but batch 3 had returned before")
    #expect(judge(nil, nil, ended: 1, begun: 1) == "the copy has batch 0, but batch 1 had returned before")
    #expect(judge(6, 6, ended: 3, begun: 5) == "the copy has batch 6, but only 5 were called")
  }

  @Test func `a copy has no part of a batch`() {
    #expect(judge(4, 3, ended: 3, begun: 5) == "one key is 4, the other 3")
    #expect(judge(1, nil, ended: 0, begun: 1) == "one key is 1, the other absent")
  }

  @Test func `an enumeration has each key once, and all that no writer removes`() {
    #expect(EnumerationRule.judge(["a", "c"], required: ["a"]) == nil)
    #expect(EnumerationRule.judge(["a", "a"], required: []) == "an enumeration of 1 keys has 2 elements")
    #expect(EnumerationRule.judge(["c"], required: ["a"]) == "an enumeration has no key a, which no writer removes")
  }
}
