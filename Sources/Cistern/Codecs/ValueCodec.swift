/// A codec whose type is forgotten: what a cache keeps of it. An object, so that each use counts one reference and not four.
@usableFromInline
final class ValueCodec<Value: Sendable>: Sendable {
  @usableFromInline let encode: @Sendable (Value) throws -> [UInt8]
  @usableFromInline let decode: @Sendable ([UInt8]) throws -> Value
  @usableFromInline let encodedSize: @Sendable (Value) -> Int?
  @usableFromInline let formatIdentifier: String
  /// For values that may be absent, which are stored without bytes then.
  @usableFromInline let absence: Absence<Value>?

  @inlinable
  init(_ codec: some Codec<Value>) {
    encode = { try codec.encode($0) }
    decode = { try codec.decode($0) }
    encodedSize = { codec.encodedSize(of: $0) }
    formatIdentifier = codec.formatIdentifier
    absence = nil
  }

  @inlinable
  init<Wrapped>(ofOptional codec: some Codec<Wrapped>) where Value == Wrapped? {
    encode = { value in if let value { try codec.encode(value) } else { [] } }
    decode = { try codec.decode($0) }
    encodedSize = { value in if let value { codec.encodedSize(of: value) } else { 0 } }
    // As that of the wrapped value: nil is stored without bytes.
    formatIdentifier = codec.formatIdentifier
    absence = Absence()
  }

  /// The same codec, with a value that stands for absence and is stored without bytes.
  init(_ codec: some Codec<Value>, absence: Absence<Value>) {
    encode = { absence.isAbsent($0) ? [] : try codec.encode($0) }
    decode = { try codec.decode($0) }
    encodedSize = { absence.isAbsent($0) ? 0 : codec.encodedSize(of: $0) }
    formatIdentifier = codec.formatIdentifier
    self.absence = absence
  }
}

extension ValueCodec {
  /// Whether it is stored that there is nothing.
  @inlinable
  func isAbsent(_ value: Value) -> Bool { absence?.isAbsent(value) ?? false }

  /// The value of a record. Throws where the record says that there is nothing, and values cannot be absent.
  @inlinable
  func decode(_ bytes: [UInt8], isNegative: Bool) throws -> Value {
    guard isNegative else { return try decode(bytes) }
    guard let absence else { throw CodecError.unexpectedAbsence }
    return absence.value
  }

  /// What is shown of a value to those who want its bytes; nil where there is nothing, or it cannot be encoded.
  @usableFromInline
  func shownBytes(of value: Value) -> [UInt8]? {
    isAbsent(value) ? nil : try? encode(value)
  }
}
