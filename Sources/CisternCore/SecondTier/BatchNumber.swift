/// The identity of a batch of writes, among the batches of a tier. A number does not wrap around.
@usableFromInline
package struct BatchNumber: Sendable, Hashable, Comparable {
  @usableFromInline let number: UInt64

  /// Creates the number of the batch at a position from 1, in the order in which the batches of a tier begin.
  @inlinable
  package init(number: UInt64) {
    self.number = number
  }

  /// The number of no batch. A tier that does not commit batches as a whole gives it to all of them.
  @inlinable
  package static var zero: BatchNumber { BatchNumber(number: 0) }

  /// Returns the number of the next batch.
  @inlinable
  package func next() -> BatchNumber { BatchNumber(number: number + 1) }

  @inlinable
  package static func < (left: BatchNumber, right: BatchNumber) -> Bool { left.number < right.number }
}
