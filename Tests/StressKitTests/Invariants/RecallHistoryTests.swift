import Testing

@testable import StressKit

@Suite struct RecallHistoryTests {
  @Test func `each removal allows one more fetch and no more`() {
    var history = RecallHistory()
    #expect(history.fetches() == nil)
    history.isRemoved()
    history.isRemoved()
    #expect(history.fetches() == nil)
    #expect(history.fetches() == nil)
    #expect(history.fetches() == "the key was fetched 4 times, but removed only 2 times")
  }
}
