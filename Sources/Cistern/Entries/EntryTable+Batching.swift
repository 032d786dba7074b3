/// The part of a batch that writes one key.
@usableFromInline
struct BatchPart<Key: Hashable & Sendable, Value: Sendable> {
  @usableFromInline let key: Key
  @usableFromInline let hash: UInt64
  @usableFromInline let condition: WriteCondition<Value>
  @usableFromInline let effect: WriteEffect
  @usableFromInline let edits: EditMark
  /// The value for memory; nil if memory will not hold one.
  @usableFromInline var arrival: Arrival<Value>?

  @inlinable
  init(
    key: Key, hash: UInt64, condition: WriteCondition<Value>, effect: WriteEffect, edits: EditMark = .unchanged,
    arrival: Arrival<Value>?
  ) {
    self.key = key
    self.hash = hash
    self.condition = condition
    self.effect = effect
    self.edits = edits
    self.arrival = arrival
  }
}

/// The effect of a batch on one key, in addition to the change of its entry.
@usableFromInline
struct BatchEffect {
  /// Whether the second tier holds the new value.
  @usableFromInline let isPersisted: Bool
  /// Whether either tier holds the new value, for the statistics.
  @usableFromInline let isStored: Bool
  /// Whether a value was removed, for the statistics.
  @usableFromInline let isRemoved: Bool

  @inlinable
  init(isPersisted: Bool, isStored: Bool, isRemoved: Bool) {
    self.isPersisted = isPersisted
    self.isStored = isStored
    self.isRemoved = isRemoved
  }
}

/// The shard of one part of a batch. Places are ordered by shard, because a batch locks the shards in that order.
@usableFromInline
struct PartPlace: Comparable {
  @usableFromInline let shard: Int
  @usableFromInline let number: Int

  @inlinable
  init(shard: Int, number: Int) {
    self.shard = shard
    self.number = number
  }

  @inlinable
  static func < (left: PartPlace, right: PartPlace) -> Bool { left.shard < right.shard }
}

extension EntryTable {
  /// Room in memory that is reserved for a batch before its critical sections.
  ///
  /// Inside the critical sections the batch cannot evict other entries.
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

  /// Removes the values for which memory has no room in addition to the values of earlier parts.
  ///
  /// - Returns: The room that the remaining values need, and whether all values remain.
  @inlinable
  func fit(_ parts: inout [BatchPart<Key, Value>]) -> (Reservation, isWhole: Bool) {
    let limit = budget.overallLimit
    var (cost, count) = (0, 0)
    var isWhole = true
    for index in parts.indices {
      guard let own = parts[index].arrival.map({ Int($0.cost) }) else { continue }
      if own <= budget.largestCost, cost + own <= limit.cost, count < limit.count {
        cost += own
        count += 1
      } else {
        parts[index].arrival = nil
        isWhole = false
      }
    }
    return (Reservation(cost: cost, count: count), isWhole)
  }

  /// Reserves room, and evicts other entries until the room is available.
  ///
  /// The reservation must come from ``fit(_:)``, so that it is within the limits. Otherwise this function does not
  /// return.
  @inlinable
  func reserve(_ reservation: Reservation) {
    while let short = budget.reserve(cost: reservation.cost, count: reservation.count) { short.evictSomewhere() }
  }

  /// Releases a reservation that no batch used.
  @inlinable
  func release(_ reservation: Reservation) {
    budget.release(cost: reservation.cost, count: reservation.count)
  }

  /// Applies all parts, or none if the condition of one part does not hold.
  ///
  /// Every look-up sees either no part or all parts. If the parts are applied, the reservation is used up.
  ///
  /// - Parameters:
  ///   - parts: One part for each key. The room for their values is reserved.
  ///   - commit: Runs once inside the critical sections of all keys, before the entries change. It takes the value
  ///     that memory held for each key and the oldest invalidation version among the shards, and returns the effect
  ///     on each key.
  /// - Returns: Whether the parts were applied.
  @inlinable
  func writeAll(
    _ parts: [BatchPart<Key, Value>], commit: ([Held<Value>?], _ era: UInt64) -> [BatchEffect]
  ) -> Bool {
    let places = parts.indices.map { PartPlace(shard: shards.index(of: parts[$0].hash), number: $0) }.sorted()
    var batch = BatchInEffect(had: Array(repeating: nil, count: parts.count))
    batch.leaving.reserveCapacity(parts.count)
    // `batch` releases the removed entries at the end of the function, outside all locks.
    return withShards(of: places[...], parts, &batch, commit)
  }

  /// The state of a batch between its checks and its changes.
  @usableFromInline
  struct BatchInEffect {
    @usableFromInline var had: [Held<Value>?]
    /// The lowest invalidation version among the locked shards.
    @usableFromInline var era = UInt64.max
    @usableFromInline var effects: [BatchEffect] = []
    @usableFromInline var leaving: [Entry<Value>?] = []
    @usableFromInline var taken: [SlotTable<Key, Value>.Taken] = []

    @inlinable
    init(had: [Held<Value>?]) {
      self.had = had
    }
  }

  /// Locks the shards in ascending order and checks the conditions. Changes the entries in reverse order, before each
  /// unlock.
  @inlinable
  func withShards(
    of places: ArraySlice<PartPlace>, _ parts: [BatchPart<Key, Value>], _ batch: inout BatchInEffect,
    _ commit: ([Held<Value>?], _ era: UInt64) -> [BatchEffect]
  ) -> Bool {
    guard let index = places.first?.shard else {
      batch.effects = commit(batch.had, batch.era)
      return true
    }
    let own = places.prefix { $0.shard == index }
    return shards.withShard(at: index) { shard in
      batch.era = min(batch.era, shard.invalidations.newest)
      for place in own {
        guard permits(parts[place.number], in: &shard, had: &batch.had[place.number]) else { return false }
      }
      guard withShards(of: places[own.endIndex...], parts, &batch, commit) else { return false }
      for place in own {
        let effect = batch.effects[place.number]
        put(parts[place.number], isPersisted: effect.isPersisted, into: &shard, &batch)
        if effect.isStored { shard.counters.stores += 1 }
        if effect.isRemoved { shard.counters.removals += 1 }
      }
      return true
    }
  }

  /// Returns whether a part's condition holds, and stores the value that memory held for its key in `had`.
  @inlinable
  func permits(_ part: BatchPart<Key, Value>, in shard: inout Shard<Key, Value>, had: inout Held<Value>?) -> Bool {
    let fingerprint = Self.fingerprint(part.hash)
    let entry = shard.locate(part.key, fingerprint: fingerprint, budget: budget).map { shard.slots[$0].entry }
    had = entry?.held
    return Entry.permits(
      part.condition, entry, stamp: shard.stamp(of: fingerprint), watched: shard.versions[fingerprint])
  }

  /// Applies one part of a batch to its shard, whose lock is held.
  @inlinable
  func put(
    _ part: BatchPart<Key, Value>, isPersisted: Bool, into shard: inout Shard<Key, Value>,
    _ batch: inout BatchInEffect
  ) {
    let fingerprint = Self.fingerprint(part.hash)
    let number = shard.slots.find(part.key, fingerprint: fingerprint)
    // The reservation covers the whole cost of the new value, so the room of the replaced value becomes free.
    if let number, shard.isLinked(number), part.arrival != nil {
      budget.release(cost: Int(shard.slots[node: number].cost), count: 1)
    }
    shard.stamp(fingerprint, part.effect)
    switch part.edits {
    case .unchanged: break
    case .ended: shard.versions.setEdited(false, fingerprint)
    case .shown(let isSettled, _): shard.versions.setEdited(!isSettled, fingerprint)
    }
    let era = shard.era
    let (_, left, taken) = shard.transition(
      part.key, fingerprint: fingerprint, at: number, cost: part.arrival?.cost ?? 0, budget: budget
    ) { entry in
      Entry.arrive(
        &entry, part.arrival.map { Held(value: $0.value, timing: $0.timing, isPersisted: isPersisted, era: era) })
    }
    batch.leaving.append(left)
    if let taken { batch.taken.append(taken) }
  }
}
