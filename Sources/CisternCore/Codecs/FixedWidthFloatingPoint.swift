/// A floating-point type of fixed width: `Double` or `Float`.
public protocol FixedWidthFloatingPoint: BinaryFloatingPoint, Sendable {
  /// The unsigned integer type of the same width.
  associatedtype BitPattern: FixedWidthInteger & BitwiseCopyable & Sendable
  /// The bits of the number.
  var bitPattern: BitPattern { get }
  /// Creates the number with these bits.
  init(bitPattern: BitPattern)
}
