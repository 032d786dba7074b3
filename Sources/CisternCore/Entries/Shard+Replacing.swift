import Eviction

extension Shard {
  /// Returns whether a write only replaces a value by one with the same cost.
  ///
  /// Such a write is on the fast path of sets: it needs no room, and does not change the eviction order.
  @inlinable
  func takesInPlace(
    _ cost: UInt32, at number: SlotNumber, _ condition: WriteCondition<Value>
  ) -> Bool {
    guard case .unedited = condition, versions.isEmpty, case .ready = slots[number].entry else { return false }
    return slots[node: number].cost == cost
  }

  /// Inserts a value for a key without an entry. The room for it is already reserved.
  @inlinable
  mutating func insertValue(_ value: Value, cost: UInt32, forKey key: HashedKey<Key>) {
    if slots.isFull { rebuildSlots() }
    let held = CachedValue(
      value: value, timing: .plain(until: .distantFuture), isPersisted: false, invalidationVersion: invalidationVersion)
    let number = slots.insert(key.key, fingerprint: key.fingerprint, entry: .ready(held))
    slots[node: number].cost = cost
    policy.insert(number, in: slots.evictionNodes)
  }

  /// Returns whether an entry has no value, and this flight.
  @inlinable
  @inline(__always)
  func isInProgress(_ number: SlotNumber, by flight: Flight<Value>) -> Bool {
    if case .inProgress(let own) = slots[number].entry { own === flight } else { false }
  }

  /// Gives an entry in progress its value. The room for it is already reserved.
  ///
  /// - Returns: The replaced entry, which the caller releases outside the lock.
  @inlinable
  @inline(__always)
  mutating func completeEntry(_ number: SlotNumber, with value: Value, cost: UInt32) -> Entry<Value> {
    let held = CachedValue(
      value: value, timing: .plain(until: .distantFuture), isPersisted: false, invalidationVersion: invalidationVersion)
    let replaced = slots.exchangeEntry(number, .ready(held))
    slots[node: number].cost = cost
    policy.insert(number, in: slots.evictionNodes)
    return replaced
  }

  /// Replaces a value by one with the same cost.
  ///
  /// - Returns: The replaced entry, which the caller releases outside the lock.
  @inlinable
  @inline(__always)
  mutating func replaceValue(
    at number: SlotNumber, by value: Value, timing: Timing, isPersisted: Bool
  ) -> Entry<Value> {
    let held = CachedValue(
      value: value, timing: timing, isPersisted: isPersisted, invalidationVersion: invalidationVersion)
    let replaced = slots.exchangeEntry(number, .ready(held))
    recordUse(number)
    return replaced
  }
}
