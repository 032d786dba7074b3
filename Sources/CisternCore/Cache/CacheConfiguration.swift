/// The settings of a cache.
///
/// A cache that is opened again needs the same configuration: see
/// ``Store/cache(_:codec:keyedBy:expiry:configuration:)->Cache<Key,ValueCoding.Value>``.
public struct CacheConfiguration<Value: Sendable>: Sendable {
  /// The highest total cost of the values in memory; nil for the store's limit alone.
  public var memoryLimit: ByteCount?
  /// The highest number of values in memory; nil for no limit.
  public var countLimit: Int?
  /// Returns the cost of a value in memory, in bytes or another unit of the limits. A cost below 1 counts as 1.
  ///
  /// Nil for the size of the encoded value. Called outside all locks, by the writer. The greatest cost that memory
  /// holds is 4,294,967,294 (4 GiB less 2 bytes), also with a higher limit or none. Use a larger unit for larger costs.
  public var weigher: (@Sendable (Value) -> Int)?
  /// Whether a fetch whose callers have all been cancelled runs to its end, and its value is stored. Otherwise, it is
  /// cancelled with its last caller, and a fetch of several keys with the last caller of all keys.
  public var completesAbandonedFlights = false
  /// Merges the cached and the incoming value, if each source has only a part of the value. If a usable value is
  /// cached, every value that is set, loaded or saved is merged. The merged value is stored and announced, and the
  /// callers of a load get it.
  ///
  /// Called outside all locks, and again if another write of the key comes between: it must not write that key itself.
  /// It may invalidate by tag and prefix, also the cached value: then the incoming value is stored alone. Nil: the
  /// incoming value replaces the cached one. ``JSONMergePatch`` has a ready-made merge.
  public var merge: (@Sendable (_ cached: Value, _ incoming: Value) throws -> Value)?
  /// Whether two values are the same for observers. A write of an equal value is not announced, and is in no conflict
  /// with a ``Draft``, unless that has read another value since. Called outside all locks. Nil to announce every write. For `Equatable` values, use `(==)`.
  public var isEqual: (@Sendable (Value, Value) -> Bool)?
  /// The version of the values' encoding, and the migration of older versions; nil for version 0.
  public var schema: CacheSchema<Value>?
  /// The policy of loads without their own, also of loads of several keys.
  public var loadPolicy = LoadPolicy.cachedOrFetch
  /// The time without a refresh of a stale value after a fetch failed, or took too long for a caller. Loads return the
  /// stale value until then, unless ``fallsBack`` excludes the error. This also holds for up to 16,384 keys whose value
  /// only the second tier has.
  public var refreshRetryInterval = Duration.seconds(1)
  /// Returns the expiry of a value, from the value itself; nil for the cache's. Not called for a write with an expiry.
  /// Called outside all locks, by the writer.
  public var expiryOfValue: (@Sendable (Value) -> Expiry?)?
  /// Returns the tags of a value, from the value itself. The value also has the tags of its write: see
  /// ``Cache/removeAll(tagged:context:)``. Called outside all locks, by the writer.
  public var tagsOfValue: (@Sendable (Value) -> [String])?
  /// The expiry of known absence, if values may be absent: `absenceExpiry`.
  var absenceRule: AbsenceRule<Value>?
  /// The further attempts of a failed fetch, within its flight; nil for none.
  public var retry: RetryPolicy?
  /// The highest number of concurrent fetches; nil for any number. Others wait: those with the highest
  /// priority go first, and among equals those that wait longest.
  ///
  /// A fetch that loads other keys gives its permit to others while it waits for them, so that it needs no second one.
  public var flightLimit: Int?

  /// The tiers that the cache uses.
  ///
  /// A cache that uses the second tier only needs a store that has one. The values of unconfirmed edits stay in the
  /// process.
  public var tiers = CacheTiers.both
  /// Whether a load may return its stale value after a fetch failed with this error; nil for all errors.
  ///
  /// If it returns false, the callers get the error, and the stale value stays. Later loads that would return the stale
  /// value only after a failure fetch again, also during the pause of ``refreshRetryInterval``. Background refreshes
  /// pause.
  ///
  /// Not called for a timeout, nor for a fetch that the circuit breaker rejected: these return the stale value. Called
  /// outside all locks, once for each failed or cancelled fetch of a key and once for each caller with a stale value.
  public var fallsBack: (@Sendable (any Error) -> Bool)?
  /// The conditions under which the cache stops calling an origin that fails; nil for none.
  public var circuitBreaker: CircuitBreaker?

  /// Whether the cache knows the age of every value (``Loaded/age``). A value with a grace, a time to idle, a refresh
  /// ahead or tags has an age in any case. For other values, the age takes about 100 bytes in memory.
  public var measuresAge = false

  /// The defaults.
  public init() {}

  /// Returns a configuration with properties that a closure sets, in one expression.
  ///
  /// ```swift
  /// let articles = try store.cache(
  ///   "articles", of: Article.self, keyedBy: String.self,
  ///   configuration: .with {
  ///     $0.loadPolicy = .freshElseStale
  ///     $0.flightLimit = 64
  ///   })
  /// ```
  ///
  /// - Parameter setProperties: The closure, which receives the defaults.
  /// - Returns: The configuration.
  public static func with(_ setProperties: (inout CacheConfiguration) -> Void) -> CacheConfiguration {
    var configuration = CacheConfiguration()
    setProperties(&configuration)
    return configuration
  }

  /// Creates a configuration. Each parameter is the property of its name. The other properties have their defaults, and
  /// can be set afterwards.
  public init(
    memoryLimit: ByteCount? = nil, countLimit: Int? = nil, weigher: (@Sendable (Value) -> Int)? = nil,
    merge: (@Sendable (_ cached: Value, _ incoming: Value) throws -> Value)? = nil,
    isEqual: (@Sendable (Value, Value) -> Bool)? = nil
  ) {
    self.memoryLimit = memoryLimit
    self.countLimit = countLimit
    self.weigher = weigher
    self.merge = merge
    self.isEqual = isEqual
  }
}

extension CacheConfiguration {
  /// Throws for an invalid setting. The message names the allowed values.
  func check(location: String) throws(CisternError) {
    func refuse(_ message: String) -> CisternError { CisternError(.invalidArgument, message, location: location) }
    if let memoryLimit { _ = try ByteCount.checkedLimit(memoryLimit, "memoryLimit", location: location) }
    if let countLimit, countLimit <= 0 { throw refuse("countLimit is \(countLimit); it must be at least 1") }
    if let flightLimit, flightLimit <= 0 { throw refuse("flightLimit is \(flightLimit); it must be at least 1") }
    if let problem = circuitBreaker?.problem { throw refuse(problem) }
    if refreshRetryInterval < .zero {
      throw refuse("refreshRetryInterval is \(refreshRetryInterval); it must not be negative")
    }
  }

  /// The settings in which all openings of a cache must agree.
  func settings(codec: String, expiry: Expiry) -> OpenSettings {
    var settings = OpenSettings()
    settings.add("codec", codec)
    settings.add("expiry", expiry)
    settings.add("memoryLimit", memoryLimit)
    settings.add("countLimit", countLimit)
    settings.add("weigher", isGiven: weigher != nil)
    settings.add("completesAbandonedFlights", completesAbandonedFlights)
    settings.add("merge", isGiven: merge != nil)
    settings.add("isEqual", isGiven: isEqual != nil)
    settings.add("schema.version", schema?.version)
    settings.add("schema.migrate", isGiven: schema?.migrate != nil)
    settings.add("loadPolicy", loadPolicy)
    settings.add("refreshRetryInterval", refreshRetryInterval)
    settings.add("expiryOfValue", isGiven: expiryOfValue != nil)
    settings.add("tagsOfValue", isGiven: tagsOfValue != nil)
    settings.add("absenceExpiry", absenceRule?.expiry)
    settings.add("retry.attempts", retry?.attempts)
    settings.add("retry.initialDelay", retry?.initialDelay)
    settings.add("retry.maximumDelay", retry?.maximumDelay)
    settings.add("flightLimit", flightLimit)
    settings.add("fallsBack", isGiven: fallsBack != nil)
    settings.add("circuitBreaker.threshold", circuitBreaker?.threshold)
    settings.add("circuitBreaker.openDuration", circuitBreaker?.openDuration)
    settings.add("circuitBreaker.maximumOpenDuration", circuitBreaker?.maximumOpenDuration)
    settings.add("circuitBreaker.probeCount", circuitBreaker?.probeCount)
    settings.add("measuresAge", measuresAge)
    settings.add("tiers", tiers.rawValue)
    return settings
  }
}
