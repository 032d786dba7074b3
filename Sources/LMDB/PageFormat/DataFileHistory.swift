/// The progress of a data file's commits. A comparison with the file's head at the next opening shows whether an
/// older state of the file was restored.
package struct DataFileHistory: Sendable, Equatable {
  /// The transaction number of the newest commit.
  package let transaction: UInt64
  /// A digest of the state before that commit, which the other meta page still refers to.
  package let previousState: UInt64

  package init(transaction: UInt64, previousState: UInt64) {
    self.transaction = transaction
    self.previousState = previousState
  }
}
