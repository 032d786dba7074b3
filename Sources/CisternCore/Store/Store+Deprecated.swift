// Former methods, which existing code may still use.

extension Store {
  /// The former form of ``cache(_:codec:keyedBy:expiry:configuration:)->Cache<Key,ValueCoding.Value?>``, which takes an
  /// ``OptionalCodec``.
  @available(*, deprecated, message: "pass OptionalCodec(codec) instead of the type and the codec")
  public func cache<Key: CacheKey, ValueCoding: Codec>(
    _ name: String, of type: ValueCoding.Value?.Type, codec: ValueCoding, keyedBy keyType: Key.Type = Key.self,
    expiry: Expiry = .never, configuration: CacheConfiguration<ValueCoding.Value?> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, ValueCoding.Value?> {
    try cache(
      name, codec: OptionalCodec(codec), keyedBy: keyType, expiry: expiry, configuration: configuration)
  }
}

extension Cache {
  /// The former form of ``init(settings:expiry:configuration:)``, for a cache whose settings are all given as
  /// parameters.
  @available(*, deprecated, message: "use init(settings:expiry:configuration:)")
  // Disfavored, because the form with a weigher accepts calls that name only its parameters, too.
  @_disfavoredOverload
  public convenience init(
    costLimit: Int = .max, countLimit: Int = .max, expiry: Expiry = .never,
    weigher: (@Sendable (Value) -> Int)? = nil, completesAbandonedFlights: Bool = false,
    merge: (@Sendable (_ cached: Value, _ incoming: Value) throws -> Value)? = nil,
    isEqual: (@Sendable (Value, Value) -> Bool)? = nil, configuration: Store.Configuration = Store.Configuration()
  ) throws(CisternError) {
    var settings = CacheConfiguration(weigher: weigher, merge: merge, isEqual: isEqual)
    settings.completesAbandonedFlights = completesAbandonedFlights
    try self.init(
      settings, limits: (costLimit: costLimit, countLimit: countLimit), expiry: expiry, store: configuration)
  }
}
