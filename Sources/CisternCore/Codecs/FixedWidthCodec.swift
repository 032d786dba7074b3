/// Stores an integer as its bytes, least significant byte first.
///
/// `Int` and `UInt` have the width of the platform. Use a type of explicit width if a store moves between 32-bit and
/// 64-bit platforms.
public struct FixedWidthCodec<Value: FixedWidthInteger & BitwiseCopyable & Sendable>: InPlaceCodec {
  /// Creates the codec.
  @inlinable
  public init() {}

  /// The identifier, such as "int64" or "uint8".
  public var formatIdentifier: String { "\(Value.isSigned ? "int" : "uint")\(size * 8)" }

  /// Returns the integer's bytes, least significant byte first.
  @inlinable
  public func encode(_ value: Value) -> [UInt8] {
    // The pointer is used during the call only. The copy is a call that is not inlined, for the reason at
    // `copiedBytes()`.
    unsafe withUnsafeBytes(of: value.littleEndian) { unsafe RawSpan(_unsafeBytes: $0).copiedBytes() }
  }

  /// Returns the integer with these bytes.
  ///
  /// - Throws: ``CodecError/wrongLength(expected:actual:)`` if the number of bytes differs from the width.
  @inlinable
  public func decode(_ bytes: [UInt8]) throws(CodecError) -> Value {
    try decode(bytes.rawSpan)
  }

  /// Returns the integer with these bytes, as ``decode(_:)-([UInt8])`` does.
  @inlinable
  public func decode(_ bytes: RawSpan) throws(CodecError) -> Value {
    guard bytes.byteCount == size else { throw .wrongLength(expected: size, actual: bytes.byteCount) }
    // Any bytes form a valid integer, and the guard checked their number.
    let value = unsafe bytes.unsafeLoadUnaligned(as: Value.self)
    return Value(littleEndian: value)
  }

  /// Returns the width in bytes. O(1).
  @inlinable
  public func encodedSize(of value: Value) -> Int? { size }

  @inlinable
  var size: Int { MemoryLayout<Value>.size }
}

extension Codec {
  /// Returns a codec that stores an integer as its bytes.
  @inlinable
  public static func fixedWidth<Integer>(_ type: Integer.Type) -> FixedWidthCodec<Integer>
  where Self == FixedWidthCodec<Integer> { FixedWidthCodec() }
}
