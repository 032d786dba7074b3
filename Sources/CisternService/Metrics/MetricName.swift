#if Service
  /// The names of metrics and labels.
  ///
  /// OpenTelemetry has no semantic conventions for caches. The names therefore follow its general rules. They begin
  /// with the name of the library and have no unit. Counters have plural names, and the number of present things ends
  /// in `.count`.
  enum MetricName {
    static let requests = "cistern.cache.requests"
    static let staleHits = "cistern.cache.stale_hits"
    static let flights = "cistern.cache.flights"
    static let joins = "cistern.cache.joins"
    static let refreshes = "cistern.cache.refreshes"
    static let failures = "cistern.cache.failures"
    static let writes = "cistern.cache.writes"
    static let evictions = "cistern.cache.evictions"
    static let expirations = "cistern.cache.expirations"
    static let invalidations = "cistern.cache.invalidations"
    static let widenedRemovals = "cistern.cache.widened_removals"
    static let migrations = "cistern.cache.migrations"
    static let entryCount = "cistern.cache.entry.count"
    static let size = "cistern.cache.size"
    static let flightCount = "cistern.cache.flight.count"
    static let waiterCount = "cistern.cache.waiter.count"

    static let storeSize = "cistern.store.size"
    static let storeLimit = "cistern.store.limit"
    static let stagedCount = "cistern.store.staged.count"
    static let degraded = "cistern.store.degraded"
    static let commits = "cistern.store.commits"
    static let storeFailures = "cistern.store.failures"

    static let fetchDuration = "cistern.cache.fetch.duration"
    static let loadDuration = "cistern.cache.load.duration"
  }

  /// The names of labels. The number of their values is bounded: ``CacheLabels`` for caches, and constants for the
  /// others.
  enum LabelName {
    static let cache = "cistern.cache.name"
    static let tier = "cistern.cache.tier"
    static let result = "cistern.cache.result"
  }
#endif
