// The loss of all records of the second tier. Values in memory, and those of unconfirmed edits, stay.

extension WritePipeline {
  /// Removes all records if the second tier requires it, and notifies observers. Call it outside all locks.
  @usableFromInline
  @inline(never)
  func removeAllRecordsIfRequired() {
    // Released outside the locks.
    var loss: LossOfAll<Key, Value>?
    table.loseAllRecords {
      loss = beginLossOfAll()?.loss
      return loss
    }
    withExtendedLifetime(loss) {}
    if observers.isObserved { observers.deliver() }
  }

  /// Removes all records if the second tier requires it, and records the notice. Nil if it does not require it.
  ///
  /// Called inside the critical sections of all shards, to which the caller applies the loss.
  ///
  /// - Parameter batch: the invalidation of several partitions that needs the removal; nil for none.
  @usableFromInline
  func beginLossOfAll(in batch: BatchToken? = nil) -> (loss: LossOfAll<Key, Value>, ticket: CommitTicket)? {
    guard let partition = secondTier?.partition, partition.mustRemoveAll else { return nil }
    table.walks.noteLossOfAll()
    let ticket = partition.stageRemovalOfAll()
    batch?.note(ticket)
    return (recordLossOfAll(), ticket)
  }

  /// Records the notice of a loss of all records. Called inside the critical sections of all shards.
  private func recordLossOfAll() -> LossOfAll<Key, Value> {
    guard observers.isObserved else { return LossOfAll(edited: [], announce: nil) }
    observers.record(PendingChange(.cleared))
    let edited = edits.isEmpty ? [] : edits.allShown
    return LossOfAll(edited: edited.map { .init(key: $0.key, value: $0.value, tags: $0.tags) }) { [observers] shown in
      observers.record(
        shown.map {
          PendingChange(.inserted($0.key, $0.value), previous: .none, tags: ChangeTags(former: [], new: $0.tags))
        }, context: nil)
    }
  }
}
