import LMDB

/// The free pages below a window of pages.
///
/// A window is cleared for a large record, and must stay free until the commit of the record. LMDB reads its lists of
/// free pages from the oldest one on, as far as it needs pages. It uses the lowest page that it has read. A tree can
/// thus take a page of the window. The page is in an old list, or the file has too few free pages below.
enum LowPages {
  /// The number of pages below a window that are wanted. The commits that empty the window use a part of them.
  static let wanted = 32
  /// The number of pages that a transaction takes at most so that LMDB reads more lists.
  private static let mostTaken = 512

  /// Returns the number of pages in the lists before the one with which LMDB has read enough pages below a window.
  ///
  /// - Parameters:
  ///   - window: The window.
  ///   - lists: The lists of free pages, from the oldest one on.
  ///   - horizon: The horizon of the transaction.
  /// - Returns: The number, or fewer if the transaction cannot take so many pages.
  static func countToRead(
    below window: Range<Int>, in lists: [PageUses.FreeList], during horizon: TransactionHorizon
  ) -> Int {
    var (count, countBefore, total) = (0, 0, 0)
    for list in lists where horizon.allowsPages(freedBy: TransactionNumber(number: UInt(list.transaction))) {
      guard count < wanted else { break }
      countBefore = total
      total += list.pages.count
      count += list.pages.count { $0 < window.lowerBound }
    }
    // The transaction itself uses pages before and afterwards.
    return max(min(countBefore, total - 16, mostTaken), 0)
  }
}
