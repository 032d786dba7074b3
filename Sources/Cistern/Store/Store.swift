import Locking

/// Where caches live: a limit on memory that they share, and a directory on disk.
///
/// ```swift
/// let store = try Store(directory: path, memoryLimit: .mebibytes(64), diskLimit: .gibibytes(1))
/// let articles = try store.cache("articles", of: Article.self, keyedBy: String.self)
/// ```
///
/// A process opens a directory as often as it likes: the same environment serves all. Several processes may share one;
/// each has memory of its own, and sees of the others' writes what it does not hold itself. A store may be used from
/// any thread. When the last reference to it and its caches goes, it is closed; ``close()`` says how that went.
public final class Store: Sendable {
  /// What a store does otherwise than by default.
  public struct Configuration: Sendable {
    /// What a committed write survives.
    public var durability = Durability.powerCut
    /// The longest time that a staged write waits for its commit.
    public var commitInterval = Duration.milliseconds(5)
    /// Whether the store is only read: what is set stays in memory. The directory must exist. A file that was copied there is
    /// read through at each opening, since it cannot be noted that it is sound.
    public var isReadOnly = false
    /// Which entries of memory make room for others.
    public var evictionPolicy = EvictionPolicyKind.leastHitDensity
    /// The time that lifetimes go by.
    public var clock: any CacheClock = SystemClock()
    /// Where fetches and observers run; nil for the global pool.
    public var taskExecutor: (any TaskExecutor)?
    /// Whether memory is given back when the kernel says that it runs short, where it does (Linux, with pressure stall
    /// information). ``Store/trimMemory(to:)`` is there in any case.
    public var respondsToMemoryPressure = true
    /// Told of what went wrong and was dealt with, in addition to ``Store/reports``; on whatever thread found it,
    /// outside all locks. It must be quick.
    public var reportHandler: (@Sendable (StoreReport) -> Void)?

    /// The number of shards of each cache; nil for what suits its limits and the machine. One shard is one order of
    /// eviction over all entries, for measurements.
    package var shardCount: Int?

    /// The defaults.
    public init() {}
  }

  let budget: MemoryBudget
  let secondTier: (any SecondTier)?
  let configuration: Configuration
  let reportLog: ReportLog
  /// The caches that were opened, by name.
  let caches = Guarded<[String: any StoreMember]>([:])
  private let pressure: PressureResponse?

  /// Opens a store over a second tier of your own, or over none.
  ///
  /// Throws `CisternError` for a limit that cannot be.
  public convenience init(
    secondTier: (any SecondTier)?, memoryLimit: ByteCount, configuration: Configuration = Configuration()
  ) throws(CisternError) {
    try self.init(
      secondTier: secondTier, memoryLimit: memoryLimit, configuration: configuration,
      reportLog: ReportLog(handler: configuration.reportHandler))
  }

  /// Opens a store that is in memory only. Throws `CisternError` for a limit that cannot be.
  public static func inMemory(
    memoryLimit: ByteCount, configuration: Configuration = Configuration()
  ) throws(CisternError) -> Store {
    try Store(secondTier: nil, memoryLimit: memoryLimit, configuration: configuration)
  }

  init(
    secondTier: (any SecondTier)?, memoryLimit: ByteCount, configuration: Configuration, reportLog: ReportLog
  ) throws(CisternError) {
    let budget = MemoryBudget(costLimit: try Self.checkedLimit(memoryLimit, "memoryLimit"))
    self.budget = budget
    self.secondTier = secondTier
    self.configuration = configuration
    self.reportLog = reportLog
    pressure = configuration.respondsToMemoryPressure ? PressureResponse(budget: budget) : nil
  }

  static func checkedLimit(_ limit: ByteCount, _ name: String) throws(CisternError) -> Int {
    guard limit.bytes > 0 else {
      throw CisternError(
        .invalidArgument, "\(name) is \(limit); it must be at least one byte", location: "opening a store")
    }
    return limit.bytes
  }
}

// MARK: The store as a whole

extension Store {
  /// Returns when everything that was written before the call is on disk, and durable as far as
  /// ``Configuration/durability`` promises. Throws `CisternError` when the disk fails, and once where it has failed since the
  /// last flush and works again: what was written meanwhile is in memory only.
  public nonisolated(nonsending) func flush() async throws(CisternError) {
    try await secondTier?.flush()
  }

  /// Flushes, and lets go of the directory. Caches work on, in memory only. Throws `CisternError` when the disk fails;
  /// the store is closed in any case.
  public nonisolated(nonsending) func close() async throws(CisternError) {
    try await secondTier?.close()
  }

  /// Evicts from memory, over all caches, until no more than this total cost is left. What is on disk stays.
  public func trimMemory(to limit: ByteCount) {
    budget.trim(toCost: limit.bytes)
  }

  /// The newest events that were dealt with, oldest first: a hundred at most.
  public var reports: [StoreReport] { reportLog.newest }

  /// What all caches have counted, and what the store holds. Takes each cache's locks in turn.
  public var statistics: StoreStatistics {
    let members = caches.withLock { $0 }
    return StoreStatistics(
      memory: budget.statistics(entryCount: budget.count, cost: budget.cost), disk: secondTier?.statistics,
      caches: members.mapValues(\.statistics))
  }
}

/// A cache, as its store sees it.
package protocol StoreMember: AnyObject, Sendable {
  /// What it has counted.
  var statistics: CacheStatistics { get }
  /// Whole-cache check: empty when sound.
  func checkInvariants() -> [String]
}
