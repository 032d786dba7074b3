import CisternTesting
import LMDB
import Testing

@testable import CisternDisk

/// The free pages below a window, by the lists in which LMDB reads them.
struct LowPagesTests {
  private let window = 100..<150
  private let horizon = TransactionHorizon(current: TransactionNumber(number: 50), oldestSnapshot: nil)

  private func list(_ transaction: UInt64, _ pages: some Sequence<Int>) -> PageUses.FreeList {
    PageUses.FreeList(transaction: transaction, pages: Array(pages))
  }

  private func count(_ lists: PageUses.FreeList..., during horizon: TransactionHorizon? = nil) -> Int {
    LowPages.countToRead(below: window, in: lists, during: horizon ?? self.horizon)
  }

  @Test func `LMDB reads the lists up to the one that has enough pages`() {
    #expect(count() == 0)
    #expect(count(list(1, 2..<10)) == 0)
    #expect(count(list(1, 110..<140), list(2, 10..<20), list(3, 30..<90)) == 40)
    #expect(count(list(1, 110..<140), list(2, 10..<20), list(3, 30..<90), list(4, 2..<8)) == 40)
    // The first list suffices, so the transaction need not read others.
    #expect(count(list(1, 10..<90), list(2, 110..<140)) == 0)
  }

  @Test func `lists of the last transactions and of a reader do not count`() {
    let lists = [list(10, 10..<30), list(48, 30..<40), list(49, 40..<60)]
    #expect(count(lists[0], lists[1], lists[2]) == 14)
    let read = TransactionHorizon(current: horizon.current, oldestSnapshot: TransactionNumber(number: 48))
    #expect(count(lists[0], lists[1], lists[2], during: read) == 0)
  }

  @Test func `the transaction takes neither all free pages nor very many`() {
    #expect(count(list(1, 100..<140), list(2, 2..<5)) == 27)
    #expect(count(list(1, 150..<1500), list(2, 2..<90)) == 512)
  }
}
