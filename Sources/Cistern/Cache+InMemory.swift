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
    let reportLog = ReportLog(handler: configuration.reportHandler)
    self.init(
      name: "", secondTier: nil, codec: nil, expiry: expiry,
      configuration: CacheConfiguration(
        weigher: weigher, completesAbandonedFlights: completesAbandonedFlights, merge: merge, isEqual: isEqual),
      surroundings: Surroundings(
        budget: MemoryBudget(costLimit: costLimit, countLimit: countLimit),
        evictionPolicy: configuration.evictionPolicy, clock: configuration.clock,
        taskExecutor: configuration.taskExecutor, report: { reportLog.add($0) },
        shardCount: configuration.shardCount))
  }
}
