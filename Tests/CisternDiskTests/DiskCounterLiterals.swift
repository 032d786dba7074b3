@testable import CisternDisk

// Tests write the numbers of counters as literals. The library has no conversion from an integer.

extension ClearCount: ExpressibleByIntegerLiteral {
  /// Creates the counter with this number.
  public init(integerLiteral number: UInt16) { self.init(number: number) }
}

extension TransactionNumber: ExpressibleByIntegerLiteral {
  /// Creates the counter with this number.
  public init(integerLiteral number: UInt) { self.init(number: number) }
}
