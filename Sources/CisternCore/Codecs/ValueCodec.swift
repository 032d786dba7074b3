/// A type-erased codec of a cache. It is a class, so that a use retains one object instead of four closures.
@usableFromInline
final class ValueCodec<Value: Sendable>: Sendable {
  @usableFromInline let encode: @Sendable (Value) throws -> [UInt8]
  @usableFromInline let decode: @Sendable ([UInt8]) throws -> Value
  /// Decodes borrowed bytes, or nil if the codec cannot (``InPlaceCodec``).
  @usableFromInline let decodeInPlace: (@Sendable (RawSpan) throws -> Value)?
  @usableFromInline let encodedSize: @Sendable (Value) -> Int?
  @usableFromInline let formatIdentifier: String
  /// The test for absent values, which are stored without bytes, or nil if values cannot be absent.
  @usableFromInline let absence: Absence<Value>?

  @inlinable
  init(_ codec: some Codec<Value>) {
    encode = { try codec.encode($0) }
    decode = { try codec.decode($0) }
    decodeInPlace = Self.inPlaceDecoder(of: codec)
    encodedSize = { codec.encodedSize(of: $0) }
    formatIdentifier = codec.formatIdentifier
    absence = nil
  }

  @inlinable
  init<Wrapped>(ofOptional codec: some Codec<Wrapped>) where Value == Wrapped? {
    encode = { value in if let value { try codec.encode(value) } else { [] } }
    decode = { try codec.decode($0) }
    if let decode = ValueCodec<Wrapped>.inPlaceDecoder(of: codec) {
      decodeInPlace = { (bytes: RawSpan) throws -> Value in try decode(bytes) }
    } else {
      decodeInPlace = nil
    }
    encodedSize = { value in if let value { codec.encodedSize(of: value) } else { 0 } }
    // The identifier is that of the wrapped value's codec, because nil is stored without bytes.
    formatIdentifier = codec.formatIdentifier
    absence = Absence()
  }

  /// Creates a codec with a value that represents absence and is stored without bytes.
  init(_ codec: some Codec<Value>, absence: Absence<Value>) {
    encode = { absence.isAbsent($0) ? [] : try codec.encode($0) }
    decode = { try codec.decode($0) }
    decodeInPlace = Self.inPlaceDecoder(of: codec)
    encodedSize = { absence.isAbsent($0) ? 0 : codec.encodedSize(of: $0) }
    formatIdentifier = codec.formatIdentifier
    self.absence = absence
  }
}

extension ValueCodec {
  /// Returns the function that decodes borrowed bytes, or nil if the codec has none.
  @usableFromInline
  static func inPlaceDecoder(of codec: some Codec<Value>) -> (@Sendable (RawSpan) throws -> Value)? {
    guard let codec = codec as? any InPlaceCodec<Value> else { return nil }
    return { try codec.decode($0) }
  }

  /// Returns whether the value represents absence.
  @inlinable
  func isAbsent(_ value: Value) -> Bool { absence?.isAbsent(value) ?? false }

  /// Returns the value of a record. Throws if the record stores absence and values cannot be absent.
  @inlinable
  func decode(_ bytes: [UInt8], isNegative: Bool) throws -> Value {
    guard isNegative else { return try decode(bytes) }
    guard let absence else { throw CodecError.unexpectedAbsence }
    return absence.value
  }

  /// Returns the encoded value for a reader of raw bytes, or nil if the value is absent or cannot be encoded.
  @usableFromInline
  func shownBytes(of value: Value) -> [UInt8]? {
    isAbsent(value) ? nil : try? encode(value)
  }
}
