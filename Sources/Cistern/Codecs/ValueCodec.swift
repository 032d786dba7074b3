/// A codec whose type is forgotten: what a cache keeps of it.
@usableFromInline
struct ValueCodec<Value: Sendable>: Sendable {
  @usableFromInline let encode: @Sendable (Value) throws -> [UInt8]
  @usableFromInline let decode: @Sendable ([UInt8]) throws -> Value
  @usableFromInline let encodedSize: @Sendable (Value) -> Int?

  @inlinable
  init(_ codec: some Codec<Value>) {
    encode = { try codec.encode($0) }
    decode = { try codec.decode($0) }
    encodedSize = { codec.encodedSize(of: $0) }
  }
}
