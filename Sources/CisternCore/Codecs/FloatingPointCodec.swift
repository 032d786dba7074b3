extension Double: FixedWidthFloatingPoint {}
extension Float: FixedWidthFloatingPoint {}

/// Stores a floating-point number as its bits, least significant byte first. It preserves infinities, both zeros and
/// every NaN.
public struct FloatingPointCodec<Value: FixedWidthFloatingPoint>: InPlaceCodec {
  @usableFromInline
  let bits = FixedWidthCodec<Value.BitPattern>()

  /// Creates the codec.
  public init() {}

  /// The identifier, such as "float64".
  public var formatIdentifier: String { "float\(bits.size * 8)" }

  /// Returns the number's bytes, least significant byte first.
  @inlinable
  public func encode(_ value: Value) -> [UInt8] { bits.encode(value.bitPattern) }

  /// Returns the number with these bytes.
  ///
  /// - Throws: ``CodecError/wrongLength(expected:actual:)`` if the number of bytes differs from the width.
  @inlinable
  public func decode(_ bytes: [UInt8]) throws(CodecError) -> Value {
    Value(bitPattern: try bits.decode(bytes))
  }

  /// Returns the number with these bytes, as ``decode(_:)-([UInt8])`` does.
  @inlinable
  public func decode(_ bytes: RawSpan) throws(CodecError) -> Value {
    Value(bitPattern: try bits.decode(bytes))
  }

  /// Returns the width in bytes. O(1).
  @inlinable
  public func encodedSize(of value: Value) -> Int? { bits.size }
}

extension Codec {
  /// Returns a codec that stores a floating-point number as its bits.
  @inlinable
  public static func floatingPoint<Number>(_ type: Number.Type) -> FloatingPointCodec<Number>
  where Self == FloatingPointCodec<Number> { FloatingPointCodec() }
}
