import CisternCore
import CisternDisk

// Tests write the numbers of counters as literals. The library has no conversion from an integer.

extension InvalidationVersion: ExpressibleByIntegerLiteral {
  /// Creates the counter with this number.
  @usableFromInline
  package init(integerLiteral number: UInt64) { self.init(number: number) }
}

extension CommitTicket: ExpressibleByIntegerLiteral {
  /// Creates the counter with this number.
  public init(integerLiteral number: UInt64) { self.init(number: number) }
}

extension FileInvalidationVersion: ExpressibleByIntegerLiteral {
  /// Creates the counter with this number.
  @usableFromInline
  package init(integerLiteral number: UInt64) { self.init(number: number) }
}

extension Generation: ExpressibleByIntegerLiteral {
  /// Creates the counter with this number.
  @usableFromInline
  package init(integerLiteral number: UInt64) { self.init(number: number) }
}

extension SequenceNumber: ExpressibleByIntegerLiteral {
  /// Creates the counter with this number.
  @usableFromInline
  package init(integerLiteral number: UInt64) { self.init(number: number) }
}
