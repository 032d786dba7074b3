/// What a cache does otherwise than by default.
///
/// A cache that is opened again must be given the same configuration: see ``Store/cache(_:codec:keyedBy:expiry:configuration:)``.
public struct CacheConfiguration<Value: Sendable>: Sendable {
  /// The highest total cost of the values in memory; nil for no other limit than the store's.
  public var memoryLimit: ByteCount?
  /// The highest number of values in memory; nil for none.
  public var countLimit: Int?
  /// What a value costs in memory, in bytes or whatever else the limits count. At least 1; what is less counts as 1.
  ///
  /// Nil for the size of the encoded value. Called outside all locks, by whoever stores.
  public var weigher: (@Sendable (Value) -> Int)?
  /// Whether a fetch whose callers have all been cancelled runs to its end, and its value is stored. Else it is
  /// cancelled with the last of them.
  public var completesAbandonedFlights = false
  /// Makes one value of what is cached and what arrives, for values of which each source brings only a part. Every value
  /// that is set, loaded or saved goes through it, where something usable is cached; what comes out is stored, announced,
  /// and returned to those who wait for the load.
  ///
  /// Called outside all locks, and again if another write of the key comes between: it must not write that key itself. It may invalidate
  /// by tag and prefix, also the cached value: then the incoming value is stored alone. Nil: the incoming value replaces the cached
  /// one. ``JSONMergePatch`` has a ready-made one.
  public var merge: (@Sendable (_ cached: Value, _ incoming: Value) throws -> Value)?
  /// Whether two values are the same for observers: then a write that changes nothing is not announced. Nor is it in conflict with
  /// what a ``Draft`` writes. Called outside all locks. Nil to announce every write. For `Equatable` values it is `(==)`.
  public var isEqual: (@Sendable (Value, Value) -> Bool)?
  /// The version of the values' encoding, and what is made of older ones; nil for version 0.
  public var schema: CacheSchema<Value>?
  /// What loads of one key accept that say nothing else. Those of several accept what ``LoadPolicy/cachedOrFetch`` does.
  public var loadPolicy = LoadPolicy.cachedOrFetch
  /// How long a stale value is left alone after a fetch failed, or took too long for a caller. Until then it is returned, and
  /// not fetched anew. This also holds for up to 16,384 keys whose value only the second tier has.
  public var refreshRetryInterval = Duration.seconds(1)
  /// The expiry of a value, from the value itself; nil for the write's own or the cache's. A write that is given an expiry
  /// does not ask. Called outside all locks, by whoever stores.
  public var expiryOfValue: (@Sendable (Value) -> Expiry?)?
  /// The tags of a value, from the value itself, beside those that its write gives: see ``Cache/removeAll(tagged:context:)``. Called
  /// outside all locks, by whoever stores.
  public var tagsOfValue: (@Sendable (Value) -> [String])?
  /// The expiry of absence, where values may be absent: `absenceExpiry`.
  var absenceRule: AbsenceRule<Value>?
  /// Whether and how often a fetch that failed is tried again, within its flight.
  public var retry: RetryPolicy?
  /// The highest number of fetches at one time; nil for any number. Others wait their turn, those with the highest
  /// priority first, and among equals the longest waiting.
  ///
  /// A fetch that loads other keys gives its turn to others while it waits for them, so that it needs no second one.
  public var flightLimit: Int?

  /// The defaults.
  public init() {}

  /// Creates a configuration with everything that it can have; each property says what it does. The expiry of absent
  /// values is set by itself: ``absenceExpiry``.
  public init(
    memoryLimit: ByteCount? = nil, countLimit: Int? = nil, weigher: (@Sendable (Value) -> Int)? = nil,
    completesAbandonedFlights: Bool = false,
    merge: (@Sendable (_ cached: Value, _ incoming: Value) throws -> Value)? = nil,
    isEqual: (@Sendable (Value, Value) -> Bool)? = nil, schema: CacheSchema<Value>? = nil,
    loadPolicy: LoadPolicy = .cachedOrFetch, refreshRetryInterval: Duration = .seconds(1),
    expiryOfValue: (@Sendable (Value) -> Expiry?)? = nil, tagsOfValue: (@Sendable (Value) -> [String])? = nil,
    retry: RetryPolicy? = nil, flightLimit: Int? = nil
  ) {
    self.memoryLimit = memoryLimit
    self.countLimit = countLimit
    self.weigher = weigher
    self.completesAbandonedFlights = completesAbandonedFlights
    self.merge = merge
    self.isEqual = isEqual
    self.schema = schema
    self.loadPolicy = loadPolicy
    self.refreshRetryInterval = refreshRetryInterval
    self.expiryOfValue = expiryOfValue
    self.tagsOfValue = tagsOfValue
    self.retry = retry
    self.flightLimit = flightLimit
  }
}

extension CacheConfiguration {
  /// Throws for what cannot be, with a sentence that says what is allowed.
  func check(location: String) throws(CisternError) {
    func refuse(_ message: String) -> CisternError { CisternError(.invalidArgument, message, location: location) }
    if let memoryLimit { _ = try Store.checkedLimit(memoryLimit, "memoryLimit") }
    if let countLimit, countLimit <= 0 { throw refuse("countLimit is \(countLimit); it must be at least 1") }
    if let flightLimit, flightLimit <= 0 { throw refuse("flightLimit is \(flightLimit); it must be at least 1") }
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
    return settings
  }
}
