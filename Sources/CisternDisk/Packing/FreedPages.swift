/// The pages that the last transactions of a writer freed, and that LMDB cannot use again yet.
///
/// LMDB uses a page again two commits after it was freed, and not while a reader has an older snapshot. A transaction
/// that counts on such a page finds the map full.
struct FreedPages: Sendable, Equatable {
  /// The pages that one transaction freed.
  private struct Entry: Equatable {
    let transaction: TransactionNumber
    let count: Int
  }

  private var byTransaction: [Entry] = []

  /// Notes the pages that a committed transaction freed, and forgets those that LMDB can use again.
  mutating func note(_ count: Int, during horizon: TransactionHorizon) {
    byTransaction.removeAll { horizon.allowsPages(freedBy: $0.transaction) }
    if count > 0 { byTransaction.append(Entry(transaction: horizon.current, count: count)) }
  }

  /// Returns the number of pages that LMDB cannot use in the transaction in progress.
  func count(during horizon: TransactionHorizon) -> Int {
    byTransaction.reduce(0) { $0 + (horizon.allowsPages(freedBy: $1.transaction) ? 0 : $1.count) }
  }
}
