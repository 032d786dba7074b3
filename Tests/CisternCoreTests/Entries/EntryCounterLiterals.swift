@testable import CisternCore

// Tests write the numbers of counters as literals. The library has no conversion from an integer.

extension WriteVersion: ExpressibleByIntegerLiteral {
  /// Creates the counter with this number.
  public init(integerLiteral number: UInt32) { self.init(number: number) }
}

extension EditNumber: ExpressibleByIntegerLiteral {
  /// Creates the counter with this number.
  public init(integerLiteral number: UInt64) { self.init(number: number) }
}
