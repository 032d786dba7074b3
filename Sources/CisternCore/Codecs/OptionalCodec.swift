/// The codec of a cache of optional values. Nil is stored without bytes, and other values as the codec of the wrapped
/// values encodes them.
public struct OptionalCodec<Wrapped: Codec>: Sendable {
  /// The codec of the wrapped values.
  public let wrapped: Wrapped

  /// Creates the codec from that of the wrapped values.
  @inlinable
  public init(_ wrapped: Wrapped) { self.wrapped = wrapped }
}
