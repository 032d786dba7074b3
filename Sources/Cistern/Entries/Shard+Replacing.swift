extension Shard {
  /// Whether a write only puts a value in the place of one that costs as much: the main path of sets, where there is neither
  /// room to find nor anything to decide.
  @inlinable
  func takesInPlace(
    _ cost: UInt32, at number: SlotNumber, _ condition: WriteCondition<Value>, _ edits: EditMark
  ) -> Bool {
    guard case .unedited = condition, case .unchanged = edits, versions.isEmpty, case .ready = slots[number].entry
    else {
      return false
    }
    return slots[node: number].cost == cost
  }

  /// Gives a value to a key that has nothing, once there is room for it.
  @inlinable
  mutating func insertValue(_ value: Value, cost: UInt32, forKey key: Key, fingerprint: UInt32) {
    if slots.isFull { rebuildSlots() }
    let held = Held(value: value, timing: .plain(until: .distantFuture), isPersisted: false, era: era)
    let number = slots.insert(key, fingerprint: fingerprint, entry: .ready(held))
    slots[node: number].cost = cost
    policy.insert(number, in: slots.evictionNodes)
  }

  /// Puts a value in the place of one that costs as much; what was there, to be let go of outside the lock.
  @inlinable
  @inline(__always)
  mutating func replaceValue(
    at number: SlotNumber, by value: Value, timing: Timing, isPersisted: Bool
  ) -> Entry<Value> {
    let held = Held(value: value, timing: timing, isPersisted: isPersisted, era: era)
    let replaced = slots.exchangeEntry(number, .ready(held))
    recordUse(number)
    return replaced
  }
}
