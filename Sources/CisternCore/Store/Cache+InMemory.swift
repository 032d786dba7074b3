import Eviction

extension Cache {
  /// Creates a cache in memory only, without a store, for keys of any kind.
  ///
  /// - Parameters:
  ///   - costLimit: The highest total cost of the values.
  ///   - countLimit: The highest number of values.
  ///   - expiry: The lifetime of values without an expiry.
  ///   - weigher: The closure that returns the cost of a value, at least 1. Nil if each value costs 1.
  ///   - configuration: The clock, the executor and the eviction policy. Settings of the disk are ignored, and so is
  ///     the response to memory pressure.
  /// - Throws: `CisternError` for an invalid limit.
  public convenience init(
    costLimit: Int = .max, countLimit: Int = .max, expiry: Expiry = .never,
    weigher: (@Sendable (Value) -> Int)? = nil, configuration: Store.Configuration = Store.Configuration()
  ) throws(CisternError) {
    try self.init(
      CacheConfiguration(weigher: weigher), limits: (costLimit: costLimit, countLimit: countLimit), expiry: expiry,
      store: configuration)
  }

  convenience init(
    _ settings: CacheConfiguration<Value>, limits: (costLimit: Int, countLimit: Int), expiry: Expiry,
    store: Store.Configuration
  ) throws(CisternError) {
    let (costLimit, countLimit) = limits
    guard costLimit > 0, countLimit > 0 else {
      throw CisternError(
        .invalidArgument, "costLimit is \(costLimit) and countLimit \(countLimit); both must be at least 1",
        location: "creating a cache in memory")
    }
    self.init(
      checked: settings, budget: MemoryBudget(costLimit: costLimit, countLimit: countLimit), expiry: expiry,
      store: store)
  }

  /// Creates a cache in memory only, without a store, with all settings of a cache in a store.
  ///
  /// - Parameters:
  ///   - settings: The limits, the weigher, and the settings of loads. A limit of nil is no limit.
  ///   - expiry: The lifetime of values without an expiry.
  ///   - configuration: The clock, the executor and the eviction policy. Settings of the disk are ignored, and so is
  ///     the response to memory pressure.
  /// - Throws: `CisternError` for an invalid limit.
  public convenience init(
    settings: CacheConfiguration<Value>, expiry: Expiry = .never,
    configuration: Store.Configuration = Store.Configuration()
  ) throws(CisternError) {
    try settings.check(location: "creating a cache in memory")
    if settings.tiers == .secondTierOnly {
      throw CisternError(
        .invalidArgument, "a cache without a store has no second tier; open the cache in a store, or use other tiers",
        location: "creating a cache in memory")
    }
    var bare = settings
    bare.memoryLimit = nil
    bare.countLimit = nil
    self.init(
      checked: bare,
      budget: MemoryBudget(
        costLimit: settings.memoryLimit?.bytes ?? .max, countLimit: settings.countLimit ?? .max),
      expiry: expiry, store: configuration)
  }

  private convenience init(
    checked settings: CacheConfiguration<Value>, budget: MemoryBudget, expiry: Expiry, store: Store.Configuration
  ) {
    let reportLog = ReportLog(handler: store.reportHandler)
    self.init(
      Storage(), expiry: expiry, configuration: settings,
      storeParts: StoreParts(
        store, budget: budget, timeline: WallTimeline(store.clock), shared: nil, report: { reportLog.add($0) }))
  }
}
