/// The sizes that bound a transaction and the number of extents.
struct ExtentLimits: Sendable, Equatable {
  let layout: ExtentLayout
  /// The number of pages of the map.
  let pageCount: Int
  let pageSize: Int

  /// The number of pages that an extent takes.
  var pagesPerExtent: Int { max(layout.size / pageSize, 1) }

  /// The number of leaves of the index that a transaction changes at most.
  var leavesPerTransaction: Int { max(pageCount / 48, 6) }

  /// The factor of ``leavesPerTransaction`` while the file can grow by many extents.
  static let budgetOfGrowth = 4

  /// The pages that the copies of the last transactions take, and that the next one can take.
  ///
  /// A margin for transactions that change the largest number of leaves would take too much of the map. In a very small
  /// map, the margin would leave no room for extents. The map is therefore full now and then.
  private var margin: Int { min(3 * (max(pageCount / 96, 6) + 12) + 16, pageCount * 2 / 5) }

  /// The number of bytes of records that one examination reclaims.
  ///
  /// The copies of a durable transaction begin at a new page. With few records in each transaction, cleaning would gain
  /// nothing.
  var reclaimedBytes: Int { max(layout.size / 4, min(layout.size, 64 << 10)) }

  /// Returns the number of pages that extents and new separate records can take.
  ///
  /// The index needs more pages than it has while items move between its leaves.
  func room(beside usage: PageUsage) -> Int {
    pageCount - usage.others - (usage.index * 7 + 4) / 5 - margin
  }

  /// Returns whether the file has room for this number of extents, and for pages of further separate records.
  func allows(_ count: Int, beside usage: PageUsage, andSeparate pages: Int = 0) -> Bool {
    count * pagesPerExtent <= room(beside: usage) - pages
  }

  /// Returns whether the map has room for this number of extents behind a number of pages.
  func allows(_ count: Int, behind pages: Int) -> Bool { pages + count * pagesPerExtent <= pageCount - margin }

  /// Returns whether the file has more extents than it has room for, although half of the margin is given up.
  func isOver(_ count: Int, beside usage: PageUsage) -> Bool {
    count * pagesPerExtent > room(beside: usage) + margin / 2
  }

  /// Returns the number of pages of a separate record.
  func pages(ofSeparate size: Int) -> Int { (size + ExtentLayout.headerSize + pageSize - 1) / pageSize }
}
