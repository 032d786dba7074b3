import LMDB
import Synchronization

/// The number of a write transaction of the data file, or of the snapshot after its commit.
///
/// LMDB counts the transactions that commit. A number does not wrap around: 64 bits outlast every store.
struct TransactionNumber: Sendable, Hashable, Comparable {
  /// The number, as LMDB has it.
  let number: UInt

  /// The number before that of the first transaction.
  static var zero: TransactionNumber { TransactionNumber(number: 0) }

  /// A number that no transaction reaches.
  static var max: TransactionNumber { TransactionNumber(number: .max) }

  /// Returns the number of the commit before this transaction.
  func previous() -> TransactionNumber { TransactionNumber(number: number - 1) }

  static func < (left: TransactionNumber, right: TransactionNumber) -> Bool { left.number < right.number }
}

extension TransactionNumber: AtomicRepresentable {
  typealias AtomicRepresentation = UInt.AtomicRepresentation

  static func encodeAtomicRepresentation(_ transaction: consuming TransactionNumber) -> AtomicRepresentation {
    UInt.encodeAtomicRepresentation(transaction.number)
  }

  static func decodeAtomicRepresentation(
    _ representation: consuming AtomicRepresentation
  ) -> TransactionNumber {
    TransactionNumber(number: UInt.decodeAtomicRepresentation(representation))
  }
}

extension Transaction where Self: ~Copyable, Self: ~Escapable {
  /// The number of a write transaction, or of the commit that a read transaction sees.
  @inline(__always)
  var transactionNumber: TransactionNumber { TransactionNumber(number: number) }
}

extension Environment {
  /// The number of the last commit, by any process.
  func lastTransaction() throws(LMDBError) -> TransactionNumber {
    TransactionNumber(number: try information().lastTransaction)
  }
}
