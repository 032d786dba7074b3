/// One key's part of a batch.
@usableFromInline
struct BatchPart<Key: Hashable & Sendable, Value: Sendable> {
  @usableFromInline let key: Key
  @usableFromInline let hash: UInt64
  @usableFromInline let condition: WriteCondition<Value>
  @usableFromInline let effect: WriteEffect
  @usableFromInline let edits: EditMark
  /// What memory is to hold; nil for nothing.
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

/// What a batch did to one key, beside its entry.
@usableFromInline
struct BatchEffect {
  /// Whether the second tier holds the new value.
  @usableFromInline let isPersisted: Bool
  /// Whether either tier does, for the statistics.
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

/// Where a part of a batch goes. In the order of shards, in which they are entered.
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
  /// Room in memory, reserved for a batch before its critical sections: inside them, no other entry can be evicted for it.
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

  /// Takes from the parts the values that memory could never hold beside those before them.
  ///
  /// - Returns: the room that the others need, and whether they are all.
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

  /// Reserves room that there can be, evicting others.
  @inlinable
  func reserve(_ reservation: Reservation) {
    while let short = budget.reserve(cost: reservation.cost, count: reservation.count) { short.evictSomewhere() }
  }

  @inlinable
  func release(_ reservation: Reservation) {
    budget.release(cost: reservation.cost, count: reservation.count)
  }

  /// Puts all parts into effect at once, or none, where the condition of one does not hold: no look-up sees some of
  /// them. Uses up the reservation if it does.
  ///
  /// - Parameters:
  ///   - parts: one for each key, with room reserved for their values.
  ///   - commit: run once inside the critical sections of all keys, before the entries change. Given what memory had of
  ///     each; answers what becomes of each.
  @inlinable
  func writeAll(
    _ parts: [BatchPart<Key, Value>], commit: ([Held<Value>?], _ era: UInt64) -> [BatchEffect]
  ) -> Bool {
    let places = parts.indices.map { PartPlace(shard: shards.index(of: parts[$0].hash), number: $0) }.sorted()
    var batch = BatchInEffect(had: Array(repeating: nil, count: parts.count))
    batch.leaving.reserveCapacity(parts.count)
    // What leaves is let go of with `batch`, outside all locks.
    return withShards(of: places[...], parts, &batch, commit)
  }

  @usableFromInline
  struct BatchInEffect {
    @usableFromInline var had: [Held<Value>?]
    /// The newest invalidation that every one of the shards knows of.
    @usableFromInline var era = UInt64.max
    @usableFromInline var effects: [BatchEffect] = []
    @usableFromInline var leaving: [Entry<Value>?] = []
    @usableFromInline var taken: [SlotTable<Key, Value>.Taken] = []

    @inlinable
    init(had: [Held<Value>?]) {
      self.had = had
    }
  }

  /// Enters the shards in order, checking conditions on the way in; changes the entries on the way out.
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

  /// Whether a part's condition holds; and what memory had of its key.
  @inlinable
  func permits(_ part: BatchPart<Key, Value>, in shard: inout Shard<Key, Value>, had: inout Held<Value>?) -> Bool {
    let fingerprint = Self.fingerprint(part.hash)
    let entry = shard.locate(part.key, fingerprint: fingerprint, budget: budget).map { shard.slots[$0].entry }
    had = entry?.held
    return Entry.permits(
      part.condition, entry, stamp: shard.stamp(of: fingerprint), watched: shard.versions[fingerprint])
  }

  @inlinable
  func put(
    _ part: BatchPart<Key, Value>, isPersisted: Bool, into shard: inout Shard<Key, Value>,
    _ batch: inout BatchInEffect
  ) {
    let fingerprint = Self.fingerprint(part.hash)
    let number = shard.slots.find(part.key, fingerprint: fingerprint)
    // What was reserved is for the whole of the new value: what the older one had is free, where it is replaced.
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
