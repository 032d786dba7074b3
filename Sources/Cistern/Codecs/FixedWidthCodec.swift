/// Stores an integer as its bytes, least significant first.
///
/// `Int` and `UInt` have the width of the machine: a store that moves between machines of 32 and 64 bits should say which
/// it means.
public struct FixedWidthCodec<Value: FixedWidthInteger & BitwiseCopyable & Sendable>: Codec {
  /// Creates the codec.
  @inlinable
  public init() {}

  /// "int64" or "uint8", for example.
  public var formatIdentifier: String { "\(Value.isSigned ? "int" : "uint")\(size * 8)" }

  /// The integer's bytes, least significant first.
  @inlinable
  public func encode(_ value: Value) -> [UInt8] {
    // Read for the duration of the call only; copied by a call, as ``RawSpan/copiedBytes()`` says why.
    unsafe withUnsafeBytes(of: value.littleEndian) { unsafe RawSpan(_unsafeBytes: $0).copiedBytes() }
  }

  /// The integer with these bytes.
  ///
  /// - Throws: ``CodecError/wrongLength(expected:actual:)``.
  @inlinable
  public func decode(_ bytes: [UInt8]) throws(CodecError) -> Value {
    guard bytes.count == size else { throw .wrongLength(expected: size, actual: bytes.count) }
    // Any bytes are an integer, and there are as many as it has.
    let value = unsafe bytes.span.bytes.unsafeLoadUnaligned(as: Value.self)
    return Value(littleEndian: value)
  }

  /// The width in bytes. O(1).
  @inlinable
  public func encodedSize(of value: Value) -> Int? { size }

  @inlinable
  var size: Int { MemoryLayout<Value>.size }
}

extension Codec {
  /// Stores an integer as its bytes.
  @inlinable
  public static func fixedWidth<Integer>(_ type: Integer.Type) -> FixedWidthCodec<Integer>
  where Self == FixedWidthCodec<Integer> { FixedWidthCodec() }
}
