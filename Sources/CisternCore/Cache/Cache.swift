import Eviction
import Locking
import Synchronization

/// A cache of one kind of value: memory over a second tier, behind a coalescer, with observers.
///
/// ```swift
/// let store = try Store(directory: path, memoryLimit: .mebibytes(64), diskLimit: .gibibytes(1))
/// let articles = try store.cache("articles", of: Article.self, keyedBy: String.self, expiry: .after(.seconds(60)))
///
/// let article = try await articles.value(forKey: id) { id in try await client.article(id) }
/// let cached = articles[id]
/// articles[id] = edited
/// ```
///
/// The cache is the face of several parts. A load goes through them as follows (`Loader.swift`):
///
///     value(forKey:fetch:)
///        │ hit ───────────────────────────────▶ returns without suspending
///        │ in progress ─▶ joins ───────────────────────────┐
///        ▼ absent: leads                                   │
///     flight: second tier ─▶ fetch ─▶ encode               │
///        ▼                                                 │
///     publish, if the entry is still the flight's: ready,  │
///     staged for disk, change recorded                     │
///        ▼ after unlocking                                 ▼
///     waiters are resumed, observers notified ───────▶ returns
///
/// Any thread or task may call every method. User code never runs under a lock or in a transaction, with the exceptions
/// that <doc:Cistern> lists.
public final class Cache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The name of the cache in its store; empty for a cache without a store.
  public let name: String

  // Hits and plain sets use these directly.
  @usableFromInline let table: EntryTable<Key, Value>
  @usableFromInline let clock: any CacheClock
  @usableFromInline let observers: ObserverRegistry<Key, Value>
  @usableFromInline package let loadPolicy: LoadPolicy
  @usableFromInline let weigher: (@Sendable (Value) -> Int)?
  /// Whether a value that is set without options has no lifetime and no tags, and memory alone holds it.
  @usableFromInline let storesPlainly: Bool
  /// Whether a write reads the cached value first, to merge the new value with it or to compare the two.
  @usableFromInline let dependsOnCached: Bool
  @usableFromInline let secondTier: SecondTierBinding<Key>?
  @usableFromInline let codec: ValueCodec<Value>?

  @usableFromInline let edits: EditedKeys<Key, Value>
  @usableFromInline let writes: WritePipeline<Key, Value>
  @usableFromInline let records: SecondTierReader<Key, Value>
  @usableFromInline let conditionalWriter: ConditionalWriter<Key, Value>
  @usableFromInline let loader: Loader<Key, Value>
  /// Keeps the second tier open as long as the cache exists, with or without its store.
  let shared: (any Sendable & AnyObject)?

  /// The parts of a store that a cache uses.
  struct StoreParts {
    let budget: MemoryBudget
    let evictionPolicy: EvictionPolicyKind
    let timeline: WallTimeline
    let taskExecutor: (any TaskExecutor)?
    /// The number of shards; nil to derive it from the limits.
    let shardCount: Int?
    let report: @Sendable (StoreReport) -> Void
    /// Nil for a cache without a store.
    let shared: (any Sendable & AnyObject)?
  }

  /// The identity of a cache in its store, and the form of its records.
  struct Storage {
    var name = ""
    var secondTier: SecondTierBinding<Key>?
    var codec: ValueCodec<Value>?
  }

  init(
    _ storage: Storage, expiry: Expiry, configuration: CacheConfiguration<Value>, storeParts: StoreParts
  ) {
    name = storage.name
    secondTier = storage.secondTier
    codec = storage.codec
    shared = storeParts.shared
    clock = storeParts.timeline.clock
    loadPolicy = configuration.loadPolicy
    weigher = configuration.weigher
    edits = EditedKeys()
    observers = ObserverRegistry(taskExecutor: storeParts.taskExecutor)
    table = Self.makeTable(
      storage, configuration: configuration, storeParts: storeParts, observers: observers, edits: edits)
    let parts = CacheParts(
      storage, storeParts,
      lifetimes: Lifetimes(
        table: table, timeline: storeParts.timeline, expiry: expiry, measuresAge: configuration.measuresAge,
        expiryOfValue: configuration.expiryFromValue),
      observers: observers, edits: edits)
    let keptTags = KeptTags(tagsOfValue: configuration.tagsOfValue, merges: configuration.merge != nil)
    writes = WritePipeline(parts, configuration)
    storesPlainly = writes.storesPlainly
    records = SecondTierReader(parts, writes: writes, migrate: configuration.schema?.migrate)
    conditionalWriter = ConditionalWriter(
      parts, records: records,
      optimisticEdits: OptimisticEdits(parts, records: records, keptTags: keptTags, isEqual: configuration.isEqual),
      keptTags: keptTags, configuration)
    dependsOnCached = conditionalWriter.dependsOnCached
    loader = Loader(
      parts, conditionalWriter: conditionalWriter, settings: LoadSettings(configuration, events: parts.events),
      flightOptions: EntryTable.FlightOptions(
        taskExecutor: storeParts.taskExecutor,
        completesAbandonedFlights: configuration.completesAbandonedFlights, hasSecondTier: storage.secondTier != nil))
  }

  /// Finishes all sequences. The registries can outlive the cache: an entry of an enumeration keeps the collaborators.
  deinit {
    observers.finish()
    loader.events.finish()
  }

  private static func makeTable(
    _ storage: Storage, configuration: CacheConfiguration<Value>, storeParts: StoreParts,
    observers: ObserverRegistry<Key, Value>, edits: EditedKeys<Key, Value>
  ) -> EntryTable<Key, Value> {
    let budget: MemoryBudget
    if configuration.tiers == .secondTierOnly {
      budget = MemoryBudget(costLimit: 0, countLimit: 0, parent: storeParts.budget)
    } else if configuration.memoryLimit == nil && configuration.countLimit == nil {
      budget = storeParts.budget
    } else {
      budget = MemoryBudget(
        costLimit: configuration.memoryLimit?.bytes ?? .max, countLimit: configuration.countLimit ?? .max,
        parent: storeParts.budget)
    }
    let limit = budget.overallLimit
    let partition = storage.secondTier?.partition
    let table = EntryTable<Key, Value>(
      shardCount: storeParts.shardCount
        ?? MemorySizing.shardCount(
          costLimit: limit.cost, countLimit: limit.count,
          costIsCount: storage.codec == nil && configuration.weigher == nil),
      policy: storeParts.evictionPolicy, budget: budget, newestInvalidation: partition?.invalidationVersion ?? .zero,
      handlers: EntryTable.Handlers(
        isObserved: { [center = observers.center] in center.observerCount.load(ordering: .relaxed) > 0 },
        announceEviction: { [clock = storeParts.timeline.clock] (key: Key, held: CachedValue<Value>) in
          // A value that unconfirmed edits show is kept beside memory.
          if !edits.isEmpty, edits[key]?.shown != nil { return }
          let event = WriteEvent.ofEviction(
            from: held.residency, isTierClosed: partition?.mode == .closed, isExpired: held.isGone(at: clock.now()))
          guard case .removed(let cause)? = event else { return }
          observers.record(
            PendingChange(
              .removed(key, cause), previous: .value(held.value), tags: ChangeTags(former: held.timing.tags)))
        },
        deliverChanges: { if observers.isObserved { observers.deliver() } }))
    budget.add(table)
    return table
  }

  /// The time for look-ups: zero until a value can expire.
  @inlinable
  func now() -> MonotonicTime { table.now(by: clock) }
}
