import Testing

@testable import StressKit

@Suite struct RecallHistoryTests {
  @Test func `each removal allows one more fetch and no more`() {
    var history = RecallHistory()
    #expect(history.noteFetch() == nil)
    history.noteRemoval()
    history.noteRemoval()
    #expect(history.noteFetch() == nil)
    #expect(history.noteFetch() == nil)
    #expect(history.noteFetch() == "the key was fetched 4 times, but removed only 2 times")
  }
}
