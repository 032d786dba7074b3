import Testing

@testable import StressKit

@Suite struct RecallHistoryTests {
  @Test func `each removal allows one more fetch, and no more than that`() {
    var history = RecallHistory()
    #expect(history.fetches() == nil)
    history.isRemoved()
    history.isRemoved()
    #expect(history.fetches() == nil)
    #expect(history.fetches() == nil)
    #expect(history.fetches() == "it was asked for 4 times, and removed 2 times")
  }
}
