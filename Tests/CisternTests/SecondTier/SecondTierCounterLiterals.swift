@testable import CisternCore

// Tests write the numbers of counters as literals. The library has no conversion from an integer.

extension InvalidationVersion: ExpressibleByIntegerLiteral {
  /// Creates the counter with this number.
  public init(integerLiteral number: UInt64) { self.init(number: number) }
}

extension CommitTicket: ExpressibleByIntegerLiteral {
  /// Creates the counter with this number.
  public init(integerLiteral number: UInt64) { self.init(number: number) }
}
