// The loss of all committed records, because the file of the second tier was replaced. Staged writes are intact.

extension SecondTierReader {
  /// Notifies observers of the loss, and of the values that are left. Called outside all locks and transactions.
  func handleFileLoss(_ secondTier: SecondTierBinding<Key>) {
    // Released outside the locks.
    var loss: LossOfAll<Key, Value>?
    table.applyLossOfAll {
      loss = writes.beginLossOfFile()
      return loss
    }
    guard let loss, loss.announce != nil else { return }
    for bytes in secondTier.partition.stagedKeys {
      if let key = secondTier.key(bytes) { announceStaged(table.hashed(key), in: secondTier) }
    }
  }

  /// Notifies observers of a value that only a staged write has. A write of the key since the loss has its own event.
  private func announceStaged(_ key: HashedKey<Key>, in secondTier: SecondTierBinding<Key>) {
    if viewOfEdits(of: key.key).isEdited { return }
    guard let (writeVersion, invalidationVersion) = table.versionsIfUnheld(key),
      case .usable(let found)? = interpretedRecord(of: key, in: secondTier)
    else { return }
    let condition = WriteCondition<Value>.untouched(
      writeVersion: writeVersion, invalidationVersion: invalidationVersion)
    table.write(MemoryWrite(nil, if: condition), to: key) { _, _ in
      observers.record(
        PendingChange(
          .inserted(key.key, found.value), previous: .none, tags: ChangeTags(former: [], new: found.timing.tags)))
      return WriteDecision(.unchanged)
    }
  }
}
