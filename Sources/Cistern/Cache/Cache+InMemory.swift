extension Cache {
  /// Creates a cache without a store: in memory only, for keys of any kind.
  ///
  /// Throws `CisternError` for a limit that cannot be.
  ///
  /// - Parameters:
  ///   - costLimit: the highest total cost of the values.
  ///   - countLimit: the highest number of values.
  ///   - expiry: the lifetime of values that are given none of their own.
  ///   - weigher: what a value costs; at least 1. Nil for 1 each.
  ///   - completesAbandonedFlights: see ``CacheConfiguration/completesAbandonedFlights``.
  ///   - merge: see ``CacheConfiguration/merge``.
  ///   - isEqual: see ``CacheConfiguration/isEqual``.
  ///   - configuration: clock, executor and eviction policy; what concerns disks is ignored.
  public convenience init(
    costLimit: Int = .max, countLimit: Int = .max, expiry: Expiry = .never,
    weigher: (@Sendable (Value) -> Int)? = nil, completesAbandonedFlights: Bool = false,
    merge: (@Sendable (_ cached: Value, _ incoming: Value) throws -> Value)? = nil,
    isEqual: (@Sendable (Value, Value) -> Bool)? = nil, configuration: Store.Configuration = Store.Configuration()
  ) throws(CisternError) {
    guard costLimit > 0, countLimit > 0 else {
      throw CisternError(
        .invalidArgument, "costLimit is \(costLimit) and countLimit \(countLimit); both must be at least 1",
        location: "creating a cache in memory")
    }
    self.init(
      checked: CacheConfiguration(
        weigher: weigher, completesAbandonedFlights: completesAbandonedFlights, merge: merge, isEqual: isEqual),
      budget: MemoryBudget(costLimit: costLimit, countLimit: countLimit), expiry: expiry, store: configuration)
  }

  /// Creates a cache without a store, in memory only, with all that a cache in a store can be given.
  ///
  /// Throws `CisternError` for a limit that cannot be.
  ///
  /// - Parameters:
  ///   - settings: limits, weigher, loading; a limit that is nil is none.
  ///   - expiry: the lifetime of values that are given none of their own.
  ///   - configuration: clock, executor and eviction policy; what concerns disks is ignored.
  public convenience init(
    settings: CacheConfiguration<Value>, expiry: Expiry = .never,
    configuration: Store.Configuration = Store.Configuration()
  ) throws(CisternError) {
    try settings.check(location: "creating a cache in memory")
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
      name: "", secondTier: nil, codec: nil, expiry: expiry, configuration: settings,
      surroundings: Surroundings(
        budget: budget, evictionPolicy: store.evictionPolicy, clock: store.clock, taskExecutor: store.taskExecutor,
        report: { reportLog.add($0) }, shardCount: store.shardCount))
  }
}
