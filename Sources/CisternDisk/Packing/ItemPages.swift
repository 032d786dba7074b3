import LMDB

/// The pages that only the items of one generation use, for each generation, as of the last commit.
///
/// LMDB does not count these pages together. A transaction reads the numbers of the generations that the last one has
/// changed.
struct ItemPages: Sendable, Equatable {
  private var counts: [Generation: Int] = [:]
  /// The generations whose numbers are unknown.
  private var unread: Set<Generation> = []
  private(set) var total = 0
  /// The number of items of all generations.
  private var itemCount = 0

  init() {}

  /// Notes that transactions have changed the items of these generations.
  mutating func noteChanges(of generations: some Sequence<Generation>) { unread.formUnion(generations) }

  /// Reads the unknown numbers. The transaction must not have changed items.
  mutating func read(
    in target: borrowing some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    itemCount = try target.tablePages().itemCount
    for generation in unread {
      // Without an answer, the next transaction asks again.
      guard let count = try target.committedItemPages(of: generation) else { continue }
      total += count - (counts[generation] ?? 0)
      counts[generation] = count == 0 ? nil : count
      unread.remove(generation)
    }
  }

  /// Returns the pages of the items in a transaction in progress.
  ///
  /// - Parameters:
  ///   - tables: The pages of the tables in the transaction.
  ///   - pageSize: The size of a page.
  /// - Returns: The number of pages.
  func count(with tables: TablePages, pageSize: Int) -> Int {
    // Without the number of a generation, all pages are estimated.
    unread.isEmpty
      ? total + Self.estimate(tables.itemCount - itemCount, pageSize) : Self.estimate(tables.itemCount, pageSize)
  }

  /// Returns the number of pages for items in random order. These fill two thirds of their leaves.
  private static func estimate(_ items: Int, _ pageSize: Int) -> Int {
    (max(items, 0) * LocatedDigest.size * 3 / 2 + pageSize - 1) / pageSize
  }
}
