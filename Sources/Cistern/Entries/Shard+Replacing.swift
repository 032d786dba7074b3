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
  mutating func insertValue(_ arrival: Arrival<Value>, forKey key: Key, fingerprint: UInt32) {
    if slots.isFull { rebuildSlots() }
    let held = Held(value: arrival.value, timing: arrival.timing, isPersisted: false, era: era)
    let number = slots.insert(key, fingerprint: fingerprint, entry: .ready(held))
    slots[node: number].cost = arrival.cost
    policy.insert(number, in: slots.evictionNodes)
  }

  /// Puts a value in the place of one that costs as much; what was there, to be let go of outside the lock.
  @inlinable
  mutating func replaceValue(at number: SlotNumber, by arrival: Arrival<Value>, isPersisted: Bool) -> Entry<Value> {
    var entry = Entry.ready(Held(value: arrival.value, timing: arrival.timing, isPersisted: isPersisted, era: era))
    swap(&entry, &slots[number].entry)
    recordUse(number)
    return entry
  }
}
