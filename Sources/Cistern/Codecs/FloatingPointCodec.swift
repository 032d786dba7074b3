/// A floating-point number of a fixed width: `Double` or `Float`.
public protocol FixedWidthFloatingPoint: BinaryFloatingPoint, Sendable {
  /// The integer of the same width.
  associatedtype BitPattern: FixedWidthInteger & BitwiseCopyable & Sendable
  /// The number's bits.
  var bitPattern: BitPattern { get }
  /// The number with these bits.
  init(bitPattern: BitPattern)
}

extension Double: FixedWidthFloatingPoint {}
extension Float: FixedWidthFloatingPoint {}

/// Stores a floating-point number as its bits, least significant byte first. Infinities, both zeros and every NaN come
/// back as they were.
public struct FloatingPointCodec<Value: FixedWidthFloatingPoint>: Codec {
  @usableFromInline
  let bits = FixedWidthCodec<Value.BitPattern>()

  /// Creates the codec.
  public init() {}

  /// "float64", for example.
  public var formatIdentifier: String { "float\(bits.size * 8)" }

  /// The number's bytes, least significant first.
  @inlinable
  public func encode(_ value: Value) -> [UInt8] { bits.encode(value.bitPattern) }

  /// The number with these bytes.
  ///
  /// - Throws: ``CodecError/wrongLength(expected:actual:)``.
  @inlinable
  public func decode(_ bytes: [UInt8]) throws(CodecError) -> Value {
    Value(bitPattern: try bits.decode(bytes))
  }

  /// The width in bytes. O(1).
  @inlinable
  public func encodedSize(of value: Value) -> Int? { bits.size }
}

extension Codec {
  /// Stores a floating-point number as its bits.
  @inlinable
  public static func floatingPoint<Number>(_ type: Number.Type) -> FloatingPointCodec<Number>
  where Self == FloatingPointCodec<Number> { FloatingPointCodec() }
}
