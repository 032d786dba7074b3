import CisternCore
import LMDB

extension WriteStep {
  /// Removes up to `count` records of dead generations, from the last generation on.
  ///
  /// The end of a generation counts as a record, because it changes rows. Many clears leave many generations without
  /// records, so that a transaction for each of them would cost more than the work.
  ///
  /// - Parameters:
  ///   - generations: The dead generations.
  ///   - count: The limit on the records, and on the pages that the transaction copies for them. At least 1.
  ///   - transaction: The transaction.
  /// - Returns: The number of generations that are empty now. They are the last ones of the list.
  /// - Throws: `LMDBError` if LMDB fails.
  mutating func purge(
    _ generations: [Generation], upTo count: Int, in transaction: inout IndexTransaction
  ) throws(LMDBError) -> Int {
    var left = count
    var ended = 0
    for generation in generations.reversed() {
      let purged = try records.purge(generation, upTo: left, in: &transaction)
      guard purged.isDone else { break }
      ended += 1
      left -= purged.count + 1
      if left <= 0 { break }
    }
    return ended
  }
}
