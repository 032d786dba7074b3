import Eviction

/// The place of a part of a batch. Places are ordered by shard, and shards are locked in this order.
@usableFromInline
struct BatchPosition: Comparable {
  @usableFromInline let shard: Int
  @usableFromInline let number: Int

  @inlinable
  init(shard: Int, number: Int) {
    self.shard = shard
    self.number = number
  }

  @inlinable
  static func < (left: BatchPosition, right: BatchPosition) -> Bool { left.shard < right.shard }
}

extension EntryTable {
  /// Room in memory that is reserved for a batch before its critical sections. Inside them, no other entry can be
  /// evicted.
  @usableFromInline
  struct Reservation {
    @usableFromInline let cost: Int
    @usableFromInline let count: Int

    @inlinable
    init(cost: Int, count: Int) {
      self.cost = cost
      self.count = count
    }
  }

  /// Removes from the parts the values that memory cannot hold together with the values before them.
  ///
  /// - Parameters:
  ///   - parts: The parts of the batch.
  ///   - room: A further limit on their cost.
  /// - Returns: The room for the remaining values, and whether no value was removed.
  @inlinable
  func fit(_ parts: inout [BatchPart<Key, Value>], within room: Int = .max) -> (Reservation, isWhole: Bool) {
    var limit = budget.overallLimit
    limit.cost = min(limit.cost, room)
    var (cost, count) = (0, 0)
    var isWhole = true
    for index in parts.indices {
      guard let own = parts[index].write.preparedValue.map({ Int($0.cost) }) else { continue }
      if own <= budget.largestCost, cost + own <= limit.cost, count < limit.count {
        cost += own
        count += 1
      } else {
        parts[index].write.preparedValue = nil
        isWhole = false
      }
    }
    return (Reservation(cost: cost, count: count), isWhole)
  }

  /// Reserves room, and evicts other entries for it. The limits must allow this much room.
  @inlinable
  func reserve(_ reservation: Reservation) {
    while let short = budget.reserve(cost: reservation.cost, count: reservation.count) { short.evictOrPause() }
  }

  @inlinable
  func release(_ reservation: Reservation) {
    budget.release(cost: reservation.cost, count: reservation.count)
  }

  /// Applies all parts at once, or none if a condition does not hold. No look-up sees only some of them.
  ///
  /// A batch that applies uses up the reservation.
  ///
  /// - Parameters:
  ///   - parts: The parts, one for each key, with room reserved for their values.
  ///   - decide: Called once inside the critical sections of all keys, before the entries change. Gets the value that
  ///     memory had of each key. Returns the decision on each write; nil if the batch must not apply.
  /// - Returns: Whether the batch applied.
  @inlinable
  func writeAll(
    _ parts: [BatchPart<Key, Value>], decide: ([CachedValue<Value>?]) -> [WriteDecision]?
  ) -> Bool {
    var batch = BatchApplication(cached: [])
    // Replaced entries are released with `batch`, outside all locks.
    return writeAll(parts, &batch, decide: decide)
  }

  /// Applies all parts at once, or none, like ``writeAll(_:decide:)``, for a caller that holds the locks of other
  /// tables. The caller must release `batch` outside all locks.
  @inlinable
  func writeAll(
    _ parts: [BatchPart<Key, Value>], _ batch: inout BatchApplication,
    decide: ([CachedValue<Value>?]) -> [WriteDecision]?
  ) -> Bool {
    let places = parts.indices.map { BatchPosition(shard: shards.index(of: parts[$0].key.hash), number: $0) }.sorted()
    batch.cached = Array(repeating: nil, count: parts.count)
    batch.replaced.reserveCapacity(parts.count)
    return withShards(of: places[...], parts, &batch, decide)
  }

  @usableFromInline
  struct BatchApplication {
    @usableFromInline var cached: [CachedValue<Value>?]
    @usableFromInline var decisions: [WriteDecision] = []
    @usableFromInline var replaced: [Entry<Value>?] = []
    @usableFromInline var taken: [SlotTable<Key, Value>.RemovedEntry] = []

    @inlinable
    init(cached: [CachedValue<Value>?]) {
      self.cached = cached
    }
  }

  /// Locks the shards in order, and checks the conditions of each. Changes the entries after all are locked.
  @inlinable
  func withShards(
    of places: ArraySlice<BatchPosition>, _ parts: [BatchPart<Key, Value>], _ batch: inout BatchApplication,
    _ decide: ([CachedValue<Value>?]) -> [WriteDecision]?
  ) -> Bool {
    guard let index = places.first?.shard else {
      guard let decisions = decide(batch.cached) else { return false }
      batch.decisions = decisions
      return true
    }
    let own = places.prefix { $0.shard == index }
    return shards.withShard(at: index) { shard in
      for place in own {
        guard permits(parts[place.number], in: &shard, cached: &batch.cached[place.number]) else { return false }
      }
      guard withShards(of: places[own.endIndex...], parts, &batch, decide) else { return false }
      for place in own { put(parts[place.number], batch.decisions[place.number], into: &shard, &batch) }
      return true
    }
  }

  /// Waits for the end of a batch that is being applied to a key.
  @inlinable
  func waitForBatch(of key: HashedKey<Key>) { shards.withShard(of: key.hash) { _ in } }

  /// Returns whether the condition of a write holds. Sets `cached` to the value that memory has of its key.
  @inlinable
  func permits(_ part: BatchPart<Key, Value>, in shard: inout Shard<Key, Value>, cached: inout CachedValue<Value>?)
    -> Bool
  {
    let fingerprint = part.key.fingerprint
    let entry = shard.locate(part.key.key, fingerprint: fingerprint, budget: budget).map { shard.slots[$0].entry }
    cached = entry?.held
    return Entry.permits(
      part.write.condition, entry, writeVersion: shard.writeVersion(of: fingerprint),
      watched: watchedState(of: part.key, in: &shard))
  }

  @inlinable
  func put(
    _ part: BatchPart<Key, Value>, _ decision: WriteDecision, into shard: inout Shard<Key, Value>,
    _ batch: inout BatchApplication
  ) {
    let number = shard.slots.find(part.key.key, fingerprint: part.key.fingerprint)
    // The reservation covers the whole cost of the new value. The room of a replaced value is free.
    if let number, shard.isLinked(number), part.write.preparedValue != nil {
      budget.release(cost: Int(shard.slots[node: number].cost), count: 1)
    }
    shard.countAndRaiseVersions(decision, of: part.key)
    // A draft watches the key beside the batch. An invalidation of the value that the draft saves changes the key.
    if let tags = part.tags, watchedState(of: part.key, in: &shard).map({ $0.watchers > 1 }) ?? false {
      shard.noteRead(part.key, tags: tags)
    }
    let (left, taken) = shard.apply(decision, part.write.preparedValue, to: part.key, at: number, budget: budget)
    batch.replaced.append(left)
    if let taken { batch.taken.append(taken) }
  }
}
