import LMDB
import Synchronization

/// Whether any record of a file has a renewal, as of one commit.
///
/// Most files have none. A reader asks a file once after each commit, and the other readers of that commit need not
/// ask.
struct RenewalState: ~Copyable {
  /// Twice the number of the commit, plus one if a record has a renewal.
  private let bits = Atomic<UInt>(0)

  /// Returns whether any record has a renewal in a snapshot.
  @inline(__always)
  borrowing func mayHaveRenewals(
    in transaction: borrowing ReadTransaction, of database: Database
  ) throws(LMDBError) -> Bool {
    // The number and the answer are one word, so no other memory needs an order.
    let known = bits.load(ordering: .relaxed)
    return known >> 1 == transaction.number ? known & 1 != 0 : try ask(transaction, database)
  }

  @inline(never)
  private borrowing func ask(
    _ transaction: borrowing ReadTransaction, _ database: Database
  ) throws(LMDBError) -> Bool {
    let result = try transaction.hasRenewals(in: database)
    bits.store(transaction.number << 1 | (result ? 1 : 0), ordering: .relaxed)
    return result
  }
}
