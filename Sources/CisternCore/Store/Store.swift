import Eviction
import Locking
import Synchronization

/// A group of caches that share a memory limit and a second tier, which is usually a directory on disk.
///
/// ```swift
/// let store = try Store(directory: path, memoryLimit: .mebibytes(64), diskLimit: .gibibytes(1))
/// let articles = try store.cache("articles", of: Article.self, keyedBy: String.self)
/// ```
///
/// All stores of one directory in a process share memory, disk, reports and caches, even if they use different paths.
/// They must have the same limits and the same ``Configuration``, except for ``Configuration/reportHandler``. A
/// ``Configuration/diskLayout`` of nil agrees with each layout. Otherwise, the opening throws `CisternError` with the
/// code ``CisternError/Code/conflictingOpen``, and the message names the setting.
///
/// A store belongs to the path of its directory. If the directory is renamed, the path gets a new one, which later
/// stores of the path share. A store of the new name has the renamed directory alone. See <doc:DurabilityGuarantees>.
///
/// The directory closes when the last of these stores is closed, or with the last reference to them and to their
/// caches. A store that was released without ``close()`` does not keep the directory open when another store closes
/// it.
///
/// A fetch or an update that is in progress keeps its cache, until its value is stored. Until then, the directory opens
/// only with the same settings. After the last release, the staged writes are committed in the background. A later
/// opening of the directory waits for that commit, and finds these writes. ``close()`` tells whether it has succeeded.
///
/// Several processes may share a directory. Each has its own memory. A process sees the writes of the others only for
/// keys that it does not hold in memory.
///
/// A store may be used from any thread.
///
/// When the process calls `exit` or returns from `main`, the staged writes of its stores are committed first. This
/// delays the exit by at most one second. A crash, a signal or `_exit` loses the writes that are not committed; see
/// <doc:DurabilityGuarantees>.
///
/// A directory that is open for writing takes one thread and five file descriptors; see <doc:Limits>.
public final class Store: Sendable {
  /// The options of a store.
  public struct Configuration: Sendable {
    /// The failures that a committed write survives.
    public var durability = Durability.powerCut
    /// The arrangement of values in the data file. An opening converts a file with another layout, and keeps the newest
    /// values that the disk limit holds.
    ///
    /// If it is nil, the file keeps its layout, and a new file is ``DiskLayout/dense``. Each file with a limit below 4
    /// MiB is ``DiskLayout/ordered``.
    ///
    /// A further store of a directory that is open in this process shares the file if it names the layout of the file,
    /// or none.
    public var diskLayout: DiskLayout?
    /// The longest time that a staged write waits for its commit. It must not be negative.
    public var commitInterval = Duration.milliseconds(5)
    /// Whether the store never writes to disk. New values stay in memory, and the directory must exist.
    ///
    /// The new values and removals of up to 65,536 keys hide the older records of these keys. With more keys, the store
    /// hides all records of a cache.
    ///
    /// A file that was copied to the directory is checked at every opening, because a read-only store cannot record
    /// the result.
    public var isReadOnly = false
    /// The order in which memory evicts entries.
    public var evictionPolicy = EvictionPolicyKind.leastHitDensity
    /// The clock that measures lifetimes.
    public var clock: any CacheClock = SystemClock()
    /// The executor of fetches and observers' handlers.
    ///
    /// If the executor is nil, fetches run on the global pool. Handlers run on threads of the library, where they may
    /// block.
    public var taskExecutor: (any TaskExecutor)?
    /// Whether the store evicts from memory when the kernel reports a shortage. On Linux, this requires
    /// pressure stall information.
    ///
    /// ``Store/trimMemory(to:)`` is available on all systems.
    public var respondsToMemoryPressure = true
    /// A closure that receives each new report, in addition to ``Store/reports``.
    ///
    /// It is called outside all locks, on the thread that found the problem. It must return quickly. It may open a
    /// store, also of the same directory. While that directory is closing, the opening can throw
    /// ``CisternError/Code/storeInUse``: the closing waits for the thread of the handler.
    public var reportHandler: (@Sendable (StoreReport) -> Void)?

    /// The number of shards of each cache, or nil for a number that suits the limits and the machine.
    package var shardCount: Int?

    /// Sets the number of shards of each cache. For measurements from other packages.
    @_spi(Measurements)
    public mutating func setShardCount(_ count: Int) { shardCount = count }

    /// Returns the default number of shards of a cache.
    ///
    /// - Parameters:
    ///   - costLimit: The memory limit.
    ///   - costIsCount: Whether each entry costs 1. Otherwise, costs are bytes.
    ///   - processorCount: The number of processors; nil for those of the machine.
    /// - Returns: The number of shards.
    package static func shardCount(costLimit: Int, costIsCount: Bool, processorCount: Int?) -> Int {
      MemorySizing.shardCount(
        costLimit: costLimit, countLimit: .max, costIsCount: costIsCount, processorCount: processorCount)
    }

    /// Creates a configuration with the default options.
    public init() {}
  }

  let shared: SharedStore
  /// The number that identifies the store's report handler among those of the directory.
  private let number: Int
  private let closed = Atomic<Bool>(false)
  /// The caches that were opened through this store, which keeps them alive.
  private let held = Guarded<[String: any StoreMember]>([:])

  private static let numbers = Atomic<Int>(0)

  package static func nextNumber() -> Int { numbers.add(1, ordering: .relaxed).newValue }

  /// Opens a store over your own second tier, or over none.
  ///
  /// - Parameters:
  ///   - secondTier: The second tier, or nil for a store in memory only.
  ///   - memoryLimit: The highest total cost of the values in memory, for all caches together.
  ///   - configuration: Further options.
  /// - Throws: `CisternError` if the limit is invalid.
  public convenience init(
    secondTier: (any SecondTier)?, memoryLimit: ByteCount, configuration: Configuration = Configuration()
  ) throws(CisternError) {
    let number = Self.nextNumber()
    self.init(
      sharing: SharedStore(
        memoryLimit: try ByteCount.checkedLimit(memoryLimit, "memoryLimit"), secondTier: secondTier,
        configuration: configuration, reportLog: ReportLog(handler: configuration.reportHandler, number: number)),
      number: number)
  }

  /// Opens a store that is in memory only.
  ///
  /// - Parameters:
  ///   - memoryLimit: The highest total cost of the values in memory, for all caches together.
  ///   - configuration: Further options.
  /// - Returns: The store.
  /// - Throws: `CisternError` if the limit is invalid.
  public static func inMemory(
    memoryLimit: ByteCount, configuration: Configuration = Configuration()
  ) throws(CisternError) -> Store {
    try Store(secondTier: nil, memoryLimit: memoryLimit, configuration: configuration)
  }

  package init(sharing shared: SharedStore, number: Int) {
    self.shared = shared
    self.number = number
  }

  deinit {
    if !isClosed { shared.leave(number) }
  }

  var budget: MemoryBudget { shared.budget }

  /// Whether this store was closed. Other stores of its directory may still be open.
  var isClosed: Bool { closed.load(ordering: .acquiring) }

  /// Keeps a cache alive as long as this store exists.
  func hold(_ member: any StoreMember, named name: String) {
    // A former cache with the name is released outside the lock.
    _ = held.withLock { $0.updateValue(member, forKey: name) }
  }
}

// MARK: The store as a whole

extension Store {
  /// Waits until all earlier writes are on disk with the configured ``Configuration/durability``.
  ///
  /// The call returns at once for a read-only store, which writes nothing to disk.
  ///
  /// - Throws: `CisternError` if the disk fails. Also throws once if a write was lost after the last flush, even if the
  ///   disk works now. It may have failed for some time, or had no room for the write. Such a value is in memory only.
  public nonisolated(nonsending) func flush() async throws(CisternError) {
    guard let tier = shared.secondTier else { return }
    try checkIsOpen(to: "flushing a store")
    try await tier.flush()
  }

  /// Flushes and releases the directory. The store is closed even if this throws.
  ///
  /// The caches continue in memory only. If another store has the directory open, it stays open for all of them. A
  /// second call returns at once, also if the first one is still flushing.
  ///
  /// - Throws: `CisternError` if the disk fails.
  public nonisolated(nonsending) func close() async throws(CisternError) {
    guard !closed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    try await shared.close(number)
  }

  /// Returns the second tier. Throws if the store is closed, or is in memory only.
  package func openTier(to operation: String) throws(CisternError) -> any SecondTier {
    guard let tier = shared.secondTier else { throw Store.noDirectory(operation) }
    try checkIsOpen(to: operation)
    return tier
  }

  func checkIsOpen(to operation: String) throws(CisternError) {
    if isClosed { throw .storeClosed(operation) }
  }

  /// Returns the error for an operation that needs a directory.
  package static func noDirectory(_ operation: String) -> CisternError {
    CisternError(
      .invalidArgument, "the store has no directory; open one with Store(directory:memoryLimit:diskLimit:)",
      location: operation)
  }

  /// Evicts entries from the memory of all caches until their total cost is at most `limit`. Records on disk stay.
  ///
  /// Values that are added during the call can stay.
  ///
  /// - Parameter limit: The highest cost to keep.
  public func trimMemory(to limit: ByteCount) {
    shared.budget.trim(toCost: limit.bytes)
  }

  /// The newest reports, oldest first, with at most 100 elements. All stores of the directory share them.
  public var reports: [StoreReport] { shared.reportLog.newest }

  /// The counts of all caches of the directory and the contents of the store. Takes the locks of the caches one after
  /// the other.
  public var statistics: StoreStatistics {
    let (budget, members) = (shared.budget, shared.caches)
    return StoreStatistics(
      memory: budget.statistics(entryCount: budget.count, cost: budget.cost), disk: shared.secondTier?.statistics,
      caches: members.mapValues(\.statistics))
  }
}
