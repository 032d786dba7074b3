#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Store {
  /// Opens a cache of `Codable` values, stored as JSON; in all else as ``cache(_:codec:keyedBy:expiry:configuration:)``.
  ///
  /// Types that have a better codec built in, as byte arrays, strings and numbers do, have that one in generic code, too,
  /// which does not know them: the same type is always stored in the same way.
  @inlinable
  public func cache<Key: CacheKey, Value: Codable & Sendable>(
    _ name: String, of type: Value.Type = Value.self, keyedBy keyType: Key.Type = Key.self, expiry: Expiry = .never,
    configuration: CacheConfiguration<Value> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, Value> {
    try open(
      name, codec: .builtIn(), expiry: expiry, configuration: configuration, bind: { SecondTierBinding<Key>($0) })
  }

  /// Opens a cache of byte arrays, stored as they are; in all else as
  /// ``cache(_:codec:keyedBy:expiry:configuration:)``.
  @inlinable
  public func cache<Key: CacheKey>(
    _ name: String, of type: [UInt8].Type, keyedBy keyType: Key.Type = Key.self, expiry: Expiry = .never,
    configuration: CacheConfiguration<[UInt8]> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, [UInt8]> {
    try cache(name, codec: BytesCodec(), keyedBy: keyType, expiry: expiry, configuration: configuration)
  }

  /// Opens a cache of strings, stored as UTF-8; in all else as ``cache(_:codec:keyedBy:expiry:configuration:)``.
  @inlinable
  public func cache<Key: CacheKey>(
    _ name: String, of type: String.Type, keyedBy keyType: Key.Type = Key.self, expiry: Expiry = .never,
    configuration: CacheConfiguration<String> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, String> {
    try cache(name, codec: StringCodec(), keyedBy: keyType, expiry: expiry, configuration: configuration)
  }

  /// Opens a cache of integers of a fixed width, stored as their bytes; in all else as
  /// ``cache(_:codec:keyedBy:expiry:configuration:)``.
  @inlinable
  public func cache<Key: CacheKey, Value: FixedWidthInteger & BitwiseCopyable & Codable & Sendable>(
    _ name: String, of type: Value.Type, keyedBy keyType: Key.Type = Key.self, expiry: Expiry = .never,
    configuration: CacheConfiguration<Value> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, Value> {
    try cache(name, codec: FixedWidthCodec<Value>(), keyedBy: keyType, expiry: expiry, configuration: configuration)
  }

  /// Opens a cache of floating-point numbers, stored as their bits; in all else as
  /// ``cache(_:codec:keyedBy:expiry:configuration:)``.
  @inlinable
  public func cache<Key: CacheKey, Value: FixedWidthFloatingPoint & Codable>(
    _ name: String, of type: Value.Type, keyedBy keyType: Key.Type = Key.self, expiry: Expiry = .never,
    configuration: CacheConfiguration<Value> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, Value> {
    try cache(name, codec: FloatingPointCodec<Value>(), keyedBy: keyType, expiry: expiry, configuration: configuration)
  }

  /// Opens a cache of `Data`, stored as it is; in all else as ``cache(_:codec:keyedBy:expiry:configuration:)``.
  @inlinable
  public func cache<Key: CacheKey>(
    _ name: String, of type: Data.Type, keyedBy keyType: Key.Type = Key.self, expiry: Expiry = .never,
    configuration: CacheConfiguration<Data> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, Data> {
    try cache(name, codec: DataCodec(), keyedBy: keyType, expiry: expiry, configuration: configuration)
  }
}
