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
/// A load, from top to bottom (`Cache+Loading.swift`):
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
///     waiters are resumed, observers told ───────────▶ returns
///
/// Everything may be called from any thread or task. Nothing that a user supplies is called under a lock, but a key's
/// `hash(into:)` and `==`.
public final class Cache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The name in its store; empty for a cache without one.
  public let name: String

  @usableFromInline let table: EntryTable<Key, Value>
  @usableFromInline let secondTier: SecondTierBinding<Key>?
  /// Keeps the second tier open for as long as the cache is there, with or without its store.
  private let shared: SharedStore?
  @usableFromInline let codec: ValueCodec<Value>?
  @usableFromInline let clock: any CacheClock
  /// Set once a value that can expire is stored or promoted: until then no look-up needs the time.
  @usableFromInline let hasDeadlines: Atomic<Bool>
  /// Set once a value that is gone without use is stored or promoted.
  @usableFromInline let hasIdleTimes: Atomic<Bool>
  /// The time of day, unmoved by a clock that is set back.
  let timeline: WallTimeline
  @usableFromInline let observers: ObserverRegistry<Key, Value>
  @usableFromInline let expiry: Expiry
  @usableFromInline let expiryOfValue: (@Sendable (Value) -> Expiry?)?
  @usableFromInline let tagsOfValue: (@Sendable (Value) -> [String])?
  @usableFromInline let loading: LoadSettings
  @usableFromInline let weigher: (@Sendable (Value) -> Int)?
  @usableFromInline let merge: (@Sendable (Value, Value) throws -> Value)?
  @usableFromInline let isEqual: (@Sendable (Value, Value) -> Bool)?
  @usableFromInline let edits = EditedKeys<Key, Value>()
  /// The version of the schema that records are written in.
  @usableFromInline let schemaVersion: UInt32
  let migrate: CacheSchema<Value>.Migration?
  /// Whether a value that is given neither a lifetime nor tags of its own has none, and memory alone holds it.
  @usableFromInline let storesPlainly: Bool
  /// Whether what is stored depends on what is cached.
  @usableFromInline let dependsOnCached: Bool
  @usableFromInline let pilot: EntryTable<Key, Value>.Pilot
  @usableFromInline let report: @Sendable (StoreReport) -> Void
  let refreshReports = ReportThrottle()

  /// What a cache takes from its store.
  struct Surroundings {
    let budget: MemoryBudget
    let evictionPolicy: EvictionPolicyKind
    let clock: any CacheClock
    let taskExecutor: (any TaskExecutor)?
    let report: @Sendable (StoreReport) -> Void
    /// Nil for what suits the limits.
    var shardCount: Int?
    /// Nil for a cache without a store.
    var shared: SharedStore?
  }

  init(
    name: String, secondTier: SecondTierBinding<Key>?, codec: ValueCodec<Value>?, expiry: Expiry,
    configuration: CacheConfiguration<Value>, surroundings: Surroundings
  ) {
    self.name = name
    self.secondTier = secondTier
    shared = surroundings.shared
    self.codec = codec
    self.expiry = expiry
    clock = surroundings.clock
    timeline = WallTimeline(surroundings.clock)
    report = surroundings.report
    weigher = configuration.weigher
    merge = configuration.merge
    isEqual = configuration.isEqual
    schemaVersion = configuration.schema?.version ?? 0
    migrate = configuration.schema?.migrate
    storesPlainly =
      secondTier == nil && codec == nil && expiry.isNever && configuration.expiryFromValue == nil
      && configuration.tagsOfValue == nil
    dependsOnCached = configuration.merge != nil || configuration.isEqual != nil
    expiryOfValue = configuration.expiryFromValue
    tagsOfValue = configuration.tagsOfValue
    loading = LoadSettings(configuration)
    hasDeadlines = Atomic(!expiry.isNever)
    hasIdleTimes = Atomic(expiry.idle != 0)
    pilot = EntryTable.Pilot(
      taskExecutor: surroundings.taskExecutor,
      completesAbandonedFlights: configuration.completesAbandonedFlights, hasSecondTier: secondTier != nil)
    let observers = ObserverRegistry<Key, Value>(taskExecutor: surroundings.taskExecutor)
    self.observers = observers
    let budget: MemoryBudget
    if configuration.memoryLimit == nil && configuration.countLimit == nil {
      budget = surroundings.budget
    } else {
      budget = MemoryBudget(
        costLimit: configuration.memoryLimit?.bytes ?? .max, countLimit: configuration.countLimit ?? .max,
        parent: surroundings.budget)
    }
    let limit = budget.overallLimit
    table = EntryTable(
      shardCount: surroundings.shardCount
        ?? MemorySizing.shardCount(
          costLimit: limit.cost, countLimit: limit.count,
          costIsCount: codec == nil && configuration.weigher == nil),
      policy: surroundings.evictionPolicy, budget: budget,
      newestInvalidation: secondTier?.partition.currentEra ?? 0,
      isObserved: { [center = observers.center] in center.observerCount.load(ordering: .relaxed) > 0 },
      evicted: { key, held in
        switch held.copy {
        case .ended: return
        case .last: break
        // Where the second tier still has it, nothing has ended.
        case .oneOfTwo: guard secondTier?.partition.mode == .closed else { return }
        }
        observers.record(.removed(key, .evicted), tags: held.timing.tags)
      },
      unlocked: { if observers.isObserved { observers.deliver() } })
    budget.add(table)
  }

  @inlinable
  func now() -> MonotonicTime {
    hasDeadlines.load(ordering: .relaxed) ? clock.now() : MonotonicTime(nanoseconds: 0)
  }

  @usableFromInline
  func wallNow() -> WallTime { timeline.time(clock.wallTime(), now: clock.now()) }
}

// MARK: Looking up

extension Cache {
  /// The value of a key, from either tier; nil where there is none. Setting stores, as ``setValue(_:forKey:expiry:tags:context:)``
  /// does; setting nil removes, as ``removeValue(forKey:context:)`` does.
  ///
  /// Never fetches and never suspends. A hit in memory is O(1), takes one lock at most and allocates nothing; a hit on disk
  /// reads, decodes, and brings the value into memory, all on the calling thread.
  @inlinable
  public subscript(key: Key) -> Value? {
    get { value(forKey: key) }
    set {
      if let newValue { setValue(newValue, forKey: key) } else { removeValue(forKey: key) }
    }
  }

  /// The value of a key, from either tier; nil where there is none, or it has expired. Never fetches, never suspends.
  @inlinable
  public func value(forKey key: Key) -> Value? {
    let hash = table.hash(key)
    let found = table.lookUp(key, hash: hash, at: now())
    if case .hit(let value) = found { return value }
    return value(found, forKey: key, hash: hash)
  }

  /// The rest of a look-up in memory that was no plain hit: out of line, so that a hit is short.
  @inlinable
  @inline(never)
  func value(_ found: Shard<Key, Value>.LookUp, forKey key: Key, hash: UInt64) -> Value? {
    switch found {
    case .hit(let value):
      return value
    case .hitToNote(let value, let uses):
      writeUse(uses, ofKey: key, hash: hash)
      return value
    case .absent(let stamp, let era):
      return valueBehindMemory(key, hash: hash, ifStill: .untouched(stamp: stamp, era: era))
    case .stale:
      table.countMiss()
      return nil
    case .expired:
      endExpired(key, hash: hash)
      table.countMiss()
      return nil
    }
  }

  /// The value of a key, from either tier, fresh or past its lifetime by no more than `age`; nil where there is none.
  ///
  /// What is past its lifetime is kept for its grace (``Expiry/after(_:graceStale:)``) and no longer, whatever `age` says.
  /// Never fetches, never suspends; nothing is refreshed.
  public func value(forKey key: Key, staleUpTo age: Duration) -> Value? {
    let hash = table.hash(key)
    if let value = value(forKey: key) { return value }
    return staleValue(ofKey: key, hash: hash) { $0 <= age.countedNanoseconds }
  }

  /// Whether a key has a value in either tier that has not expired. Counts as a use on disk, not in memory. What an older
  /// version of the schema wrote is looked up, to see what its migration makes of it.
  @inlinable
  public func contains(_ key: Key) -> Bool {
    let hash = table.hash(key)
    if let held = table.peek(key, hash: hash) { return !held.isExpired(at: now()) }
    if let shown = shownByEdits(key) { return shown.map { _ in true } ?? false }
    guard let secondTier else { return false }
    var isThere = false
    var isOlder = false
    secondTier.view(key) { metadata, _ in
      isOlder = metadata.schemaVersion < schemaVersion
      isThere = metadata.schemaVersion == schemaVersion && !isExpired(metadata)
    }
    if isOlder, case .some = value(forKey: key) { return true }
    return isThere
  }

  /// Looks in the second tier, and brings what is there into memory, unless the key was written meanwhile.
  @inlinable
  func valueBehindMemory(_ key: Key, hash: UInt64, ifStill condition: WriteCondition<Value>) -> Value? {
    if let shown = shownByEdits(key) {
      if case nil = shown { table.countMiss() } else { table.count(hash) { $0.memoryHits += 1 } }
      return shown
    }
    guard let secondTier, let record = secondTier.read(key) else {
      table.countMiss()
      return nil
    }
    let interpretation = interpret(record, forKey: key)
    guard case .usable(let found, let rewriting) = interpretation else {
      discard(interpretation, forKey: key, hash: hash, if: condition)
      table.countMiss()
      return nil
    }
    let isFresh = !found.isStale(at: now())
    promote(found, rewriting: rewriting, forKey: key, hash: hash, if: condition) {
      if isFresh { $0.diskHits += 1 }
    }
    if !isFresh { table.countMiss() }
    return isFresh ? found.value : nil
  }
}
