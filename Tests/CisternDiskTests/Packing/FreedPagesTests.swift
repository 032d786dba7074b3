import Testing

@testable import CisternDisk

/// The pages that LMDB cannot use again yet.
struct FreedPagesTests {
  private func horizon(_ current: UInt, oldest: UInt? = nil) -> TransactionHorizon {
    TransactionHorizon(
      current: TransactionNumber(number: current), oldestSnapshot: oldest.map { TransactionNumber(number: $0) })
  }

  @Test func `pages can be used two commits after they were freed`() {
    var pages = FreedPages()
    pages.note(7, during: horizon(10))
    pages.note(5, during: horizon(11))
    #expect(pages.count(during: horizon(11)) == 12)
    #expect(pages.count(during: horizon(12)) == 5)
    #expect(pages.count(during: horizon(13)) == 0)
  }

  @Test func `pages cannot be used while a reader sees their contents`() {
    var pages = FreedPages()
    pages.note(7, during: horizon(10))
    #expect(pages.count(during: horizon(20, oldest: 10)) == 7)
    #expect(pages.count(during: horizon(20, oldest: 11)) == 0)
    // The list forgets pages that can be used.
    pages.note(0, during: horizon(20, oldest: 10))
    #expect(pages != FreedPages())
    pages.note(0, during: horizon(20))
    #expect(pages == FreedPages())
  }
}
