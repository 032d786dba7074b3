/// A loss of all records of the second tier, as the shards apply it. Values in memory stay.
@usableFromInline
struct LossOfAll<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// A key that keeps its value beside the second tier.
  @usableFromInline
  struct Shown: Sendable {
    let key: Key
    let value: Value
    let tags: [String]
  }

  /// Whether the second tier still has the record of a key; nil if it has none. Called inside the critical sections.
  let hasRecord: (@Sendable (Key) -> Bool)?
  /// The keys with unconfirmed edits. Memory need not hold the value that they show.
  let edited: [Shown]
  /// Receives the keys of one shard that keep their values. Called inside the critical section. Nil if the cache has no
  /// observers.
  let announce: (@Sendable ([Shown]) -> Void)?
}

extension EntryTable {
  /// Applies a loss of all records in the critical sections of all shards.
  ///
  /// - Parameter begin: Clears the second tier, and records the notice. Runs once, in these critical sections. Returns
  ///   nil if another thread has applied the loss.
  func applyLossOfAll(_ begin: () -> LossOfAll<Key, Value>?) {
    var index = shards.count
    _ = shards.withAllShards(begin) { shard, loss in
      index -= 1
      if let loss { apply(loss, in: &shard, at: index) }
    }
  }

  /// Applies a loss of all records to a shard, inside the critical section.
  @usableFromInline
  func apply(_ loss: LossOfAll<Key, Value>, in shard: inout Shard<Key, Value>, at index: Int) {
    // A record that was read before the loss must not be promoted. The values on which writers depend stay the same.
    shard.versionOfAll.raise()
    var shown: [LossOfAll<Key, Value>.Shown] = []
    for number in shard.slots.numbers(inGroups: 0..<shard.slots.groupCount)
    where !shard.removeIfInvalidated(number, budget: budget) {
      let entry = shard.slots[number].entry
      entry.flight?.noteLostRecord()
      guard var held = entry.held else { continue }
      if held.isPersisted, !(loss.hasRecord?(shard.slots.key(of: number)) ?? false) {
        held.isPersisted = false
        shard.slots[number].entry = entry.replacingHeld(held)
      }
      if loss.announce != nil {
        shown.append(.init(key: shard.slots.key(of: number), value: held.value, tags: held.timing.tags))
      }
    }
    guard let announce = loss.announce else { return }
    for edited in loss.edited {
      let hash = hash(edited.key)
      guard shards.index(of: hash) == index else { continue }
      let number = shard.slots.find(edited.key, fingerprint: Self.fingerprint(hash))
      if number.flatMap({ shard.slots[$0].entry.held }) == nil { shown.append(edited) }
    }
    if !shown.isEmpty { announce(shown) }
  }
}
