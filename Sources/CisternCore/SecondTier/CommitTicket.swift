/// The position of a write in the order of all staged writes. The holder can wait for the commit of the write.
public struct CommitTicket: Sendable, Hashable, Comparable {
  /// The position, from 1. A later write has a greater number.
  public let number: UInt64

  /// Creates a ticket. A second tier of your own assigns its own numbers.
  ///
  /// - Parameter number: The position in the order of the tier's writes.
  @inlinable
  public init(number: UInt64) {
    self.number = number
  }

  /// Returns whether the left write was staged before the right one.
  @inlinable
  public static func < (left: CommitTicket, right: CommitTicket) -> Bool { left.number < right.number }
}

extension CommitTicket {
  /// The ticket of no write. No caller can wait for its commit.
  @inlinable
  package static var zero: CommitTicket { CommitTicket(number: 0) }

  /// Returns the ticket of the next write. A ticket does not wrap around.
  @inlinable
  package func next() -> CommitTicket { CommitTicket(number: number + 1) }
}
