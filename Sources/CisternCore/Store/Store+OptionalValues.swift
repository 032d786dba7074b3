#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Caches of optional values. Nil is stored without bytes. Other values are stored like those of a cache of the
// wrapped type.

extension Store {
  /// Opens a cache of optional values, with a codec for the wrapped values.
  ///
  /// Nil is a value with a separate lifetime, ``CacheConfiguration/absenceExpiry``. The parameters, the result and
  /// the errors are otherwise those of ``cache(_:codec:keyedBy:expiry:configuration:)->Cache<Key,ValueCoding.Value>``.
  @inlinable
  public func cache<Key: CacheKey, ValueCoding: Codec>(
    _ name: String, codec: OptionalCodec<ValueCoding>, keyedBy keyType: Key.Type = Key.self, expiry: Expiry = .never,
    configuration: CacheConfiguration<ValueCoding.Value?> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, ValueCoding.Value?> {
    try open(
      name, codec: ValueCodec(ofOptional: codec.wrapped), expiry: expiry, configuration: configuration,
      bind: { SecondTierBinding<Key>($0) })
  }

  /// Opens a cache of optional `Codable` values, which are stored as JSON.
  ///
  /// The parameters, the result and the errors are those of
  /// ``cache(_:codec:keyedBy:expiry:configuration:)->Cache<Key,ValueCoding.Value>``.
  @inlinable
  public func cache<Key: CacheKey, Wrapped: Codable & Sendable>(
    _ name: String, of type: Wrapped?.Type = Wrapped?.self, keyedBy keyType: Key.Type = Key.self,
    expiry: Expiry = .never, configuration: CacheConfiguration<Wrapped?> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, Wrapped?> {
    try open(
      name, codec: .builtIn(of: Wrapped.self), expiry: expiry, configuration: configuration,
      bind: { SecondTierBinding<Key>($0) })
  }

  /// Opens a cache of optional byte arrays.
  ///
  /// The parameters, the result and the errors are those of
  /// ``cache(_:codec:keyedBy:expiry:configuration:)->Cache<Key,ValueCoding.Value>``.
  @inlinable
  public func cache<Key: CacheKey>(
    _ name: String, of type: [UInt8]?.Type, keyedBy keyType: Key.Type = Key.self, expiry: Expiry = .never,
    configuration: CacheConfiguration<[UInt8]?> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, [UInt8]?> {
    try cache(name, codec: OptionalCodec(BytesCodec()), keyedBy: keyType, expiry: expiry, configuration: configuration)
  }

  /// Opens a cache of optional strings.
  ///
  /// The parameters, the result and the errors are those of
  /// ``cache(_:codec:keyedBy:expiry:configuration:)->Cache<Key,ValueCoding.Value>``.
  @inlinable
  public func cache<Key: CacheKey>(
    _ name: String, of type: String?.Type, keyedBy keyType: Key.Type = Key.self, expiry: Expiry = .never,
    configuration: CacheConfiguration<String?> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, String?> {
    try cache(name, codec: OptionalCodec(StringCodec()), keyedBy: keyType, expiry: expiry, configuration: configuration)
  }

  /// Opens a cache of optional fixed-width integers.
  ///
  /// The parameters, the result and the errors are those of
  /// ``cache(_:codec:keyedBy:expiry:configuration:)->Cache<Key,ValueCoding.Value>``.
  @inlinable
  public func cache<Key: CacheKey, Wrapped: FixedWidthInteger & BitwiseCopyable & Codable & Sendable>(
    _ name: String, of type: Wrapped?.Type, keyedBy keyType: Key.Type = Key.self, expiry: Expiry = .never,
    configuration: CacheConfiguration<Wrapped?> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, Wrapped?> {
    try cache(
      name, codec: OptionalCodec(FixedWidthCodec<Wrapped>()), keyedBy: keyType, expiry: expiry,
      configuration: configuration)
  }

  /// Opens a cache of optional floating-point numbers.
  ///
  /// The parameters, the result and the errors are those of
  /// ``cache(_:codec:keyedBy:expiry:configuration:)->Cache<Key,ValueCoding.Value>``.
  @inlinable
  public func cache<Key: CacheKey, Wrapped: FixedWidthFloatingPoint & Codable>(
    _ name: String, of type: Wrapped?.Type, keyedBy keyType: Key.Type = Key.self, expiry: Expiry = .never,
    configuration: CacheConfiguration<Wrapped?> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, Wrapped?> {
    try cache(
      name, codec: OptionalCodec(FloatingPointCodec<Wrapped>()), keyedBy: keyType, expiry: expiry,
      configuration: configuration)
  }

  /// Opens a cache of optional `Data`.
  ///
  /// The parameters, the result and the errors are those of
  /// ``cache(_:codec:keyedBy:expiry:configuration:)->Cache<Key,ValueCoding.Value>``.
  @inlinable
  public func cache<Key: CacheKey>(
    _ name: String, of type: Data?.Type, keyedBy keyType: Key.Type = Key.self, expiry: Expiry = .never,
    configuration: CacheConfiguration<Data?> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, Data?> {
    try cache(name, codec: OptionalCodec(DataCodec()), keyedBy: keyType, expiry: expiry, configuration: configuration)
  }
}
