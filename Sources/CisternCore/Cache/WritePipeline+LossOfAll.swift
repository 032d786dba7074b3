// The loss of all records of the second tier. Values in memory, and those of unconfirmed edits, stay.

extension WritePipeline {
  /// Removes all records if the second tier requires it, and notifies observers. Call it outside all locks.
  @usableFromInline
  @inline(never)
  func removeAllRecordsIfRequired() {
    // Released outside the locks.
    var loss: LossOfAll<Key, Value>?
    table.applyLossOfAll {
      loss = beginLossOfAll()?.loss
      return loss
    }
    withExtendedLifetime(loss) {}
    if observers.isObserved { observers.deliver() }
  }

  /// Removes all records if the second tier requires it, and records the notice.
  ///
  /// Called inside the critical sections of all shards, to which the caller applies the loss.
  ///
  /// - Parameter batch: The invalidation of several partitions that needs the removal; nil for none.
  /// - Returns: The loss and the ticket of the removal; nil if the second tier does not require it.
  @usableFromInline
  func beginLossOfAll(in batch: BatchToken? = nil) -> (loss: LossOfAll<Key, Value>, ticket: CommitTicket)? {
    guard let partition = secondTier?.partition, partition.mustRemoveAll else { return nil }
    table.walks.noteLossOfAll()
    let ticket = partition.stageRemovalOfAll()
    batch?.note(ticket)
    return (recordLossOfAll(), ticket)
  }

  /// Acknowledges that the second tier lost all committed records, and records the notice.
  ///
  /// Called inside the critical sections of all shards, to which the caller applies the loss.
  ///
  /// - Returns: The loss; nil if the second tier did not lose them.
  func beginLossOfFile() -> LossOfAll<Key, Value>? {
    guard let secondTier, secondTier.partition.hasLostFile else { return nil }
    table.walks.noteLossOfAll()
    guard secondTier.partition.acknowledgeFileLoss() else { return nil }
    return recordLossOfAll { secondTier.partition.presence(of: secondTier.bytes($0).rawSpan) == true }
  }

  /// Records the notice of a loss of all records. Called inside the critical sections of all shards.
  ///
  /// - Parameter hasRecord: Whether the second tier still has the record of a key; nil if it has none.
  /// - Returns: The loss, which the caller applies to the shards.
  private func recordLossOfAll(except hasRecord: (@Sendable (Key) -> Bool)? = nil) -> LossOfAll<Key, Value> {
    guard observers.isObserved else { return LossOfAll(hasRecord: hasRecord, edited: [], announce: nil) }
    observers.record(PendingChange(.cleared))
    let edited = edits.isEmpty ? [] : edits.allShown
    let shown = edited.map { LossOfAll<Key, Value>.Shown(key: $0.key, value: $0.value, tags: $0.tags) }
    return LossOfAll(hasRecord: hasRecord, edited: shown) { [observers] shown in
      observers.record(
        shown.map {
          PendingChange(.inserted($0.key, $0.value), previous: .none, tags: ChangeTags(former: [], new: $0.tags))
        }, context: nil)
    }
  }
}
