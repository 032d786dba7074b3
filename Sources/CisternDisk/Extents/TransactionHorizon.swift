/// The write transaction in progress and the oldest snapshot that a reader may still use.
struct TransactionHorizon: Sendable, Equatable {
  /// The number that the transaction has if it commits.
  let current: TransactionNumber
  /// The oldest snapshot of a reader in any process; nil if no reader is active.
  let oldestSnapshot: TransactionNumber?

  /// Returns whether space that a transaction emptied can be written again.
  ///
  /// No reader's snapshot may be older than that transaction. In addition, a commit must lie between: after a power
  /// cut, LMDB can return to the commit before the last one. LMDB has the same rule for its free pages.
  func allowsReuse(of emptied: TransactionNumber) -> Bool {
    guard emptied.number + 1 < current.number else { return false }
    guard let oldestSnapshot else { return true }
    return oldestSnapshot >= emptied
  }

  /// Returns whether LMDB can use the pages again that a transaction freed.
  func allowsPages(freedBy transaction: TransactionNumber) -> Bool {
    allowsReuse(of: transaction) && oldestSnapshot != transaction
  }
}
