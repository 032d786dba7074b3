extension SecondTierReader {
  /// Returns false if no value is stored for a key. Does not look in the second tier.
  @inlinable
  func mayHaveStoredValue(of key: HashedKey<Key>) -> Bool {
    if secondTier != nil { return true }
    if table.peek(key) != nil { return true }
    return !edits.isEmpty
  }

  /// Returns the value that the cache holds for a key as a fetch begins, fresh or in grace, without unconfirmed edits.
  ///
  /// The function prefers the record to the copy in memory, because another process may have replaced the record.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - flight: The flight that reads the value. It removes a record that cannot be used, as other reads do.
  /// - Returns: The value; nil if neither tier has one.
  @inlinable
  func storedValue(of key: HashedKey<Key>, for flight: Flight<Value>? = nil) -> ReadValue<Value>? {
    if !edits.isEmpty, let edited = edits[key.key] { return storedValue(below: edited) }
    let held = table.peek(key)
    if held == nil, secondTier == nil { return nil }
    let time = lifetimes.clock.now()
    if held?.isPersisted ?? true, let record = secondTier?.read(key.key) {
      let interpretation = interpret(record, of: key)
      if case .usable(let found) = interpretation {
        let isCurrent = record.metadata.schemaVersion == schemaVersion
        return ReadValue(
          value: found.value, timing: found.timing, time: time, record: isCurrent ? record.identity : nil)
      }
      if let flight {
        discard(interpretation, of: key, if: .beside(flight, invalidationVersion: flight.invalidationVersion))
      }
    }
    guard let held, held.freshness(at: time) != .gone else { return nil }
    return ReadValue(value: held.value, timing: held.timing, time: time)
  }

  @usableFromInline
  func storedValue(below edited: EditedKeys<Key, Value>.Edited) -> ReadValue<Value>? {
    let time = lifetimes.clock.now()
    guard let base = edited.queue.base, edited.timing.freshness(at: time) != .gone else { return nil }
    return ReadValue(value: base, timing: edited.timing, time: time)
  }
}
