import Locking
import Synchronization

/// Where caches live: a limit on memory that they share, and a directory on disk.
///
/// ```swift
/// let store = try Store(directory: path, memoryLimit: .mebibytes(64), diskLimit: .gibibytes(1))
/// let articles = try store.cache("articles", of: Article.self, keyedBy: String.self)
/// ```
///
/// All stores of one directory in a process are one: they share memory, disk, reports and caches, by whatever path the
/// directory is reached. They must be opened with the same limits and the same ``Configuration``, except for
/// ``Configuration/reportHandler``: another setting throws `CisternError` with the code
/// ``CisternError/Code/conflictingOpen``, which names the setting. The directory is closed when the last of these stores
/// is closed, or with the last reference to them and to their caches. A store that was released without
/// ``close()`` does not keep the directory open when another one closes it.
///
/// Several processes may share a directory; each has its own memory, and sees the writes of the others to keys that it
/// does not hold itself. A store may be used from any thread.
///
/// When the process calls `exit`, or returns from `main`, the staged writes of its stores are committed first. The exit takes at
/// most one second longer. A crash, a signal or `_exit` loses the writes that are not committed; see <doc:DurabilityGuarantees>.
///
/// A directory that is open for writing takes one thread and five file descriptors; see <doc:Limits>.
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
    /// Where fetches and observers' handlers run; nil for the global pool, and for threads of the library's own on which
    /// handlers may block.
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

  let shared: SharedStore
  /// Tells the store's report handler from those of other stores of the directory.
  private let number: Int
  private let closed = Atomic<Bool>(false)
  /// The caches that were opened through this store, which keeps them alive.
  private let held = Guarded<[String: any StoreMember]>([:])

  private static let numbers = Atomic<Int>(0)

  static func nextNumber() -> Int { numbers.add(1, ordering: .relaxed).newValue }

  /// Opens a store over a second tier of your own, or over none.
  ///
  /// Throws `CisternError` for a limit that cannot be.
  public convenience init(
    secondTier: (any SecondTier)?, memoryLimit: ByteCount, configuration: Configuration = Configuration()
  ) throws(CisternError) {
    let number = Self.nextNumber()
    self.init(
      sharing: SharedStore(
        memoryLimit: try Self.checkedLimit(memoryLimit, "memoryLimit"), secondTier: secondTier,
        configuration: configuration, reportLog: ReportLog(handler: configuration.reportHandler, number: number)),
      number: number)
  }

  /// Opens a store that is in memory only. Throws `CisternError` for a limit that cannot be.
  public static func inMemory(
    memoryLimit: ByteCount, configuration: Configuration = Configuration()
  ) throws(CisternError) -> Store {
    try Store(secondTier: nil, memoryLimit: memoryLimit, configuration: configuration)
  }

  init(sharing shared: SharedStore, number: Int) {
    self.shared = shared
    self.number = number
  }

  deinit {
    if !isClosed { shared.leave(number) }
  }

  var budget: MemoryBudget { shared.budget }

  /// Whether this store was closed; others of its directory may be open.
  var isClosed: Bool { closed.load(ordering: .acquiring) }

  /// Keeps a cache alive for as long as this store is there.
  func hold(_ member: any StoreMember, named name: String) {
    // An older one of the name is released outside the lock.
    _ = held.withLock { $0.updateValue(member, forKey: name) }
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
    if isClosed, shared.secondTier != nil {
      throw CisternError(.storeClosed, "this store was closed; open another one", location: "flushing a store")
    }
    try await shared.secondTier?.flush()
  }

  /// Flushes, and releases the directory. Caches work on, in memory only, unless another store has the directory open:
  /// then it stays open for all. Throws `CisternError` when the disk fails; the store is closed in any case.
  public nonisolated(nonsending) func close() async throws(CisternError) {
    guard !closed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    try await shared.close(number)
  }

  /// Evicts from memory, over all caches, until no more than this total cost is left. What is on disk stays.
  public func trimMemory(to limit: ByteCount) {
    shared.budget.trim(toCost: limit.bytes)
  }

  /// The newest events that were dealt with, oldest first: a hundred at most. All stores of the directory share them.
  public var reports: [StoreReport] { shared.reportLog.newest }

  /// The counts of all caches of the directory, and what the store holds. Takes each cache's locks in turn.
  public var statistics: StoreStatistics {
    let (budget, members) = (shared.budget, shared.caches)
    return StoreStatistics(
      memory: budget.statistics(entryCount: budget.count, cost: budget.cost), disk: shared.secondTier?.statistics,
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
