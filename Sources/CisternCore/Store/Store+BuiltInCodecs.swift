#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Store {
  /// Opens a cache of `Codable` values, which are stored as JSON.
  ///
  /// Byte arrays, `Data`, strings and numbers have more efficient built-in codecs. Generic code that does not know
  /// these types uses the same codecs, so the format depends only on the type.
  ///
  /// The parameters, the result and the errors are those of
  /// ``cache(_:codec:keyedBy:expiry:configuration:)->Cache<Key,ValueCoding.Value>``.
  @inlinable
  public func cache<Key: CacheKey, Value: Codable & Sendable>(
    _ name: String, of type: Value.Type = Value.self, keyedBy keyType: Key.Type = Key.self, expiry: Expiry = .never,
    configuration: CacheConfiguration<Value> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, Value> {
    try open(
      name, codec: .builtIn(), expiry: expiry, configuration: configuration, bind: { SecondTierBinding<Key>($0) })
  }

  /// Opens a cache of byte arrays, which are stored unchanged.
  ///
  /// The parameters, the result and the errors are those of
  /// ``cache(_:codec:keyedBy:expiry:configuration:)->Cache<Key,ValueCoding.Value>``.
  @inlinable
  public func cache<Key: CacheKey>(
    _ name: String, of type: [UInt8].Type, keyedBy keyType: Key.Type = Key.self, expiry: Expiry = .never,
    configuration: CacheConfiguration<[UInt8]> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, [UInt8]> {
    try cache(name, codec: BytesCodec(), keyedBy: keyType, expiry: expiry, configuration: configuration)
  }

  /// Opens a cache of strings, which are stored as UTF-8.
  ///
  /// The parameters, the result and the errors are those of
  /// ``cache(_:codec:keyedBy:expiry:configuration:)->Cache<Key,ValueCoding.Value>``.
  @inlinable
  public func cache<Key: CacheKey>(
    _ name: String, of type: String.Type, keyedBy keyType: Key.Type = Key.self, expiry: Expiry = .never,
    configuration: CacheConfiguration<String> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, String> {
    try cache(name, codec: StringCodec(), keyedBy: keyType, expiry: expiry, configuration: configuration)
  }

  /// Opens a cache of fixed-width integers, which are stored as their bytes.
  ///
  /// The parameters, the result and the errors are those of
  /// ``cache(_:codec:keyedBy:expiry:configuration:)->Cache<Key,ValueCoding.Value>``.
  @inlinable
  public func cache<Key: CacheKey, Value: FixedWidthInteger & BitwiseCopyable & Codable & Sendable>(
    _ name: String, of type: Value.Type, keyedBy keyType: Key.Type = Key.self, expiry: Expiry = .never,
    configuration: CacheConfiguration<Value> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, Value> {
    try cache(name, codec: FixedWidthCodec<Value>(), keyedBy: keyType, expiry: expiry, configuration: configuration)
  }

  /// Opens a cache of floating-point numbers, which are stored as their bits.
  ///
  /// The parameters, the result and the errors are those of
  /// ``cache(_:codec:keyedBy:expiry:configuration:)->Cache<Key,ValueCoding.Value>``.
  @inlinable
  public func cache<Key: CacheKey, Value: FixedWidthFloatingPoint & Codable>(
    _ name: String, of type: Value.Type, keyedBy keyType: Key.Type = Key.self, expiry: Expiry = .never,
    configuration: CacheConfiguration<Value> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, Value> {
    try cache(name, codec: FloatingPointCodec<Value>(), keyedBy: keyType, expiry: expiry, configuration: configuration)
  }

  /// Opens a cache of `Data`, which is stored unchanged.
  ///
  /// The parameters, the result and the errors are those of
  /// ``cache(_:codec:keyedBy:expiry:configuration:)->Cache<Key,ValueCoding.Value>``.
  @inlinable
  public func cache<Key: CacheKey>(
    _ name: String, of type: Data.Type, keyedBy keyType: Key.Type = Key.self, expiry: Expiry = .never,
    configuration: CacheConfiguration<Data> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, Data> {
    try cache(name, codec: DataCodec(), keyedBy: keyType, expiry: expiry, configuration: configuration)
  }
}
