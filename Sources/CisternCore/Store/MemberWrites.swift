import Eviction

/// The writes of one cache in a batch over several caches: the state of one attempt.
///
/// It holds everything that the critical sections replace, because their user's deinitializers must run outside the
/// locks of all caches.
final class MemberWrites<Key: Hashable & Sendable, Value: Sendable>: StoreWriteMember {
  typealias Plan = (Key, ReadSnapshot<Key, Value>) throws(CisternError) -> PlannedWrite<Value>

  private let cache: Cache<Key, Value>
  private let keys: [HashedKey<Key>]
  private let context: WriterContext?
  private let dependsOnCached: Bool
  private let plan: Plan
  private var writes: [PreparedWrite<Key, Value>] = []
  private var parts: [BatchPart<Key, Value>] = []
  /// Whether memory holds all values.
  private var fitsMemory = true
  private var reservation = EntryTable<Key, Value>.Reservation(cost: 0, count: 0)
  private var application = EntryTable<Key, Value>.BatchApplication(cached: [])
  private var effects: BatchEffects<Key, Value>

  /// Creates the writes of these keys.
  ///
  /// - Parameters:
  ///   - cache: The cache.
  ///   - keys: The keys, each once.
  ///   - context: The writer, for ``Change/context``.
  ///   - dependsOnCached: Whether `plan` needs the cached values.
  ///   - plan: Returns the write of a key. It can be called several times for each.
  init(
    _ cache: Cache<Key, Value>, keys: [Key], context: WriterContext?, dependsOnCached: Bool, plan: @escaping Plan
  ) {
    self.cache = cache
    self.keys = keys.map { cache.table.hashed($0) }
    self.context = context
    self.dependsOnCached = dependsOnCached
    self.plan = plan
    effects = BatchEffects(batch: nil, context: context)
  }

  var identity: ObjectIdentifier { ObjectIdentifier(cache) }
  var name: String { cache.name }
  var store: (any Sendable & AnyObject)? { cache.shared }
  var partition: (any TransactionalPartition)? { cache.secondTier?.partition }

  func watch() { for key in keys { cache.table.watch(key) } }
  func unwatch() { for key in keys { cache.table.unwatch(key) } }

  func prepare() throws(CisternError) {
    let prepared = try cache.conditionalWriter.prepareTogether(
      keys, context: context, dependsOnCached: dependsOnCached, plan)
    writes = prepared.writes
    parts = zip(prepared.keys, writes).map { BatchPart(key: $0, write: $1.memoryWrite, tags: $1.storedTiming?.tags) }
    application = EntryTable.BatchApplication(cached: [])
    effects = BatchEffects(batch: nil, context: context)
  }

  var count: Int { writes.count }

  var tierWrites: [StagedWrite] { writes.compactMap(\.tierWrite) }

  func fit(within room: Int) -> (cost: Int, isWhole: Bool) {
    let (reservation, isWhole) = cache.table.fit(&parts, within: room)
    self.reservation = reservation
    fitsMemory = isWhole
    return (reservation.cost, isWhole)
  }

  func reserve() -> MemoryShortage? { cache.table.budget.reserve(cost: reservation.cost, count: reservation.count) }

  func release() { cache.table.release(reservation) }

  func refusal(in batch: BatchToken) -> CisternError? {
    cache.writes.refusal(of: writes, in: batch, fitsMemory: fitsMemory)
  }

  func apply(in batch: BatchToken?, others: () -> Bool) -> Bool {
    effects = BatchEffects(batch: partition == nil ? nil : batch, context: context)
    return cache.table.writeAll(parts, &application) { cached in
      others() ? cache.writes.decideTogether(writes, parts, cached: cached, &effects) : nil
    }
  }

  func refusal() -> CisternError? {
    guard case .refused(let excess) = effects.outcome else { return nil }
    return cache.writes.refusal(excess, location: cache.writes.reports.location)
  }

  func finish() { cache.writes.finishBatch(effects.outcome) }
}
