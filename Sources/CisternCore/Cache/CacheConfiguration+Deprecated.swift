// Former initializers, which existing code may still use.

extension CacheConfiguration {
  /// The former form of ``init(memoryLimit:countLimit:weigher:merge:isEqual:)``, which set more properties.
  @available(*, deprecated, message: "use init(memoryLimit:countLimit:weigher:merge:isEqual:), and set the rest")
  // Disfavored, because the other form accepts calls that name only its parameters, too.
  @_disfavoredOverload
  public init(
    memoryLimit: ByteCount? = nil, countLimit: Int? = nil, weigher: (@Sendable (Value) -> Int)? = nil,
    completesAbandonedFlights: Bool = false,
    merge: (@Sendable (_ cached: Value, _ incoming: Value) throws -> Value)? = nil,
    isEqual: (@Sendable (Value, Value) -> Bool)? = nil, schema: CacheSchema<Value>? = nil,
    loadPolicy: LoadPolicy = .cachedOrFetch, refreshRetryInterval: Duration = .seconds(1),
    expiryOfValue: (@Sendable (Value) -> Expiry?)? = nil, tagsOfValue: (@Sendable (Value) -> [String])? = nil,
    retry: RetryPolicy? = nil, flightLimit: Int? = nil
  ) {
    self.init(
      memoryLimit: memoryLimit, countLimit: countLimit, weigher: weigher, merge: merge, isEqual: isEqual)
    self.completesAbandonedFlights = completesAbandonedFlights
    self.schema = schema
    self.loadPolicy = loadPolicy
    self.refreshRetryInterval = refreshRetryInterval
    self.expiryOfValue = expiryOfValue
    self.tagsOfValue = tagsOfValue
    self.retry = retry
    self.flightLimit = flightLimit
  }
}
