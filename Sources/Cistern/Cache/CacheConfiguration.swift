/// What a cache does otherwise than by default.
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
  /// Called outside all locks, and again when the key was written meanwhile: it must not write that key itself. Nil to
  /// replace what is cached. ``JSONMergePatch`` has a ready-made one.
  public var merge: (@Sendable (_ cached: Value, _ incoming: Value) throws -> Value)?
  /// Whether two values are the same for observers: then a write that changes nothing is not announced. Called outside
  /// all locks. Nil to announce every write. For `Equatable` values it is `(==)`.
  public var isEqual: (@Sendable (Value, Value) -> Bool)?
  /// The version of the values' encoding, and what is made of older ones; nil for version 0.
  public var schema: CacheSchema<Value>?
  /// What loads of one key accept that say nothing else. Those of several accept what ``LoadPolicy/cachedOrFetch`` does.
  public var loadPolicy = LoadPolicy.cachedOrFetch
  /// How long after a fetch failed a stale value is left alone: until then it is returned, and not fetched anew.
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
  public var flightLimit: Int?

  /// The defaults.
  public init() {}

  /// Creates a configuration.
  public init(
    memoryLimit: ByteCount? = nil, countLimit: Int? = nil, weigher: (@Sendable (Value) -> Int)? = nil,
    completesAbandonedFlights: Bool = false,
    merge: (@Sendable (_ cached: Value, _ incoming: Value) throws -> Value)? = nil,
    isEqual: (@Sendable (Value, Value) -> Bool)? = nil
  ) {
    self.memoryLimit = memoryLimit
    self.countLimit = countLimit
    self.weigher = weigher
    self.completesAbandonedFlights = completesAbandonedFlights
    self.merge = merge
    self.isEqual = isEqual
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
}
