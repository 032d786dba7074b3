extension EntryTable {
  /// Stages a key's record again, if memory still holds the value with these uses and the second tier holds it too.
  ///
  /// - Parameter rewrite: Stages the record, inside the critical section. Returns whether the second tier still holds
  ///   the value.
  func whileInUse(_ uses: Uses, forKey key: Key, hash: UInt64, _ rewrite: () -> Bool) {
    let fingerprint = Self.fingerprint(hash)
    shards.withShard(of: hash) { shard in
      guard let number = shard.locate(key, fingerprint: fingerprint, budget: budget),
        var held = shard.slots[number].entry.held, held.isPersisted, held.timing.uses === uses
      else { return }
      shard.stamp(fingerprint)
      guard !rewrite() else { return }
      held.isPersisted = false
      shard.slots[number].entry = shard.slots[number].entry.replacingHeld(held)
    }
  }
}
