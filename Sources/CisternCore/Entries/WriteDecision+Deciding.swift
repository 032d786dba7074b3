extension WriteDecision {
  /// Decides on a write whose condition holds.
  ///
  /// - Parameters:
  ///   - intent: The kind of the write.
  ///   - situation: The state of the key.
  ///   - recordPresence: Returns the presence of the key's record in the second tier. Called only if the decision
  ///     depends on it: before `stage`, and after it to learn whether the key still has a record.
  ///   - stage: Stages the write in the second tier. Called at most once.
  /// - Returns: The decision.
  @inlinable
  @inline(__always)
  static func decide(
    _ intent: WriteIntent, in situation: WriteSituation, recordPresence: () -> RecordPresence,
    stage: () -> StagingOutcome
  ) -> WriteDecision {
    switch intent {
    case .store(let effect, let isAnnounced):
      return store(effect, isAnnounced: isAnnounced, in: situation, recordPresence: recordPresence, stage: stage)
    case .remove, .show, .promote, .discard, .expire, .noteUse, .noteRecordLoss:
      return decideOther(intent, in: situation, recordPresence: recordPresence, stage: stage)
    }
  }

  /// Decides on the write of a value that is set, is fetched, or is made of the cached one.
  @inlinable
  @inline(__always)
  static func store(
    _ effect: WriteEffect, isAnnounced: Bool, in situation: WriteSituation, recordPresence: () -> RecordPresence,
    stage: () -> StagingOutcome
  ) -> WriteDecision {
    let asks = !situation.isInMemory && (situation.isObserved || effect == .maintenance)
    let hasRecord = asks && recordPresence() == .readable
    let existed = situation.existed(inTier: situation.isInMemory || hasRecord)
    // The value ended since the writer read it. For other writers, an equal value is then a new one, too.
    let isNew = effect == .maintenance && !situation.isInMemory && !hasRecord
    let effect = isNew ? WriteEffect.addition : effect
    let isPersisted = stage() == .record
    let isKept = situation.willBeInMemory || isPersisted
    // An equal value of a key whose older value was evicted or has expired is a new value for observers.
    let event = WriteEvent.of(isKept: isKept, existed: existed, isAnnounced: isAnnounced || !existed)
    return WriteDecision(
      .replace(isPersisted ? .bothTiers : .memoryOnly, keepsFlight: effect == .olderAddition), effect: effect,
      event: situation.isObserved ? event : nil, counter: isKept ? .stored : .refused)
  }

  /// Decides on every write except a store.
  @usableFromInline
  static func decideOther(
    _ intent: WriteIntent, in situation: WriteSituation, recordPresence: () -> RecordPresence,
    stage: () -> StagingOutcome
  ) -> WriteDecision {
    switch intent {
    case .store:
      preconditionFailure("a store has its own decision")
    case .remove(let stagesAlways):
      return removal(in: situation, stagesAlways: stagesAlways, recordPresence: recordPresence, stage: stage)
    case .show(let write):
      return showing(write, in: situation, recordPresence: recordPresence, stage: stage)
    case .promote(let keepsFlight, let reason):
      let (residency, event, counter) = promotion(in: situation, rewriting: reason, stage: stage)
      return WriteDecision(
        .replace(residency, keepsFlight: keepsFlight), event: situation.isObserved ? event : nil, counter: counter)
    case .discard(let reason, let isCounted):
      // The tier may have lost the record since it was read, which observers know. A value in memory ends when it
      // leaves memory.
      let wasThere = situation.isObserved && !situation.isInMemory && recordPresence() == .readable
      _ = stage()
      // The key still has a record if that was written or used since it was read.
      let isGone = wasThere || situation.isInMemory ? recordPresence() != .readable : true
      let isLaterEnd = situation.isInMemory && reason == .expired
      return WriteDecision(
        isGone ? .noteRecordLoss : .unchanged, event: wasThere && isGone ? .removed(reason.cause) : nil,
        counter: isCounted && !isLaterEnd ? reason.counter : nil)
    case .expire(let isCounted):
      _ = stage()
      // The key still has a value if another process has written or used its record since.
      let hasRecord = situation.isObserved && recordPresence() == .readable
      return WriteDecision(
        .removeValue, event: situation.isObserved && !hasRecord ? .removed(.expired) : nil,
        counter: isCounted ? .expired : nil)
    case .noteUse:
      guard stage() == .refused else { return WriteDecision(.unchanged) }
      let isLast = situation.isObserved && !situation.isInMemory
      return WriteDecision(.noteRecordLoss, event: isLast ? .removed(.refused) : nil)
    case .noteRecordLoss(let cause):
      let isLast = situation.isObserved && !situation.isInMemory && !situation.isEdited
      return WriteDecision(.noteRecordLoss, event: isLast ? .removed(cause == .evicted ? .evicted : .lost) : nil)
    }
  }

  private static func removal(
    in situation: WriteSituation, stagesAlways: Bool, recordPresence: () -> RecordPresence, stage: () -> StagingOutcome
  ) -> WriteDecision {
    let presence = situation.isInMemory ? RecordPresence.readable : recordPresence()
    let existed = situation.existed(inTier: presence == .readable)
    // A record that the tier cannot see now would be back once it can. A newer schema's record is removed, too.
    let isStaged = stagesAlways || situation.isEdited || presence != .absent
    if isStaged { _ = stage() }
    return WriteDecision(
      .replace(.memoryOnly, keepsFlight: false), effect: .replacement, editMark: situation.editMark(isPending: false),
      event: existed && situation.isObserved ? .removed(.explicit) : nil, counter: existed ? .removed : nil)
  }

  private static func showing(
    _ write: ShownWrite, in situation: WriteSituation, recordPresence: () -> RecordPresence, stage: () -> StagingOutcome
  ) -> WriteDecision {
    // Eviction may have removed the value since the writer read it, also to make room for this one. The tier is asked
    // before anything is staged.
    let asksForEvent = situation.isObserved && !situation.isInMemory && !situation.isEdited
    let asksForResidency = write.confirmation == nil && !write.isPending && write.hasValue
    let hasRecord = (asksForEvent || asksForResidency) && recordPresence() == .readable
    let existed = situation.existed(inTier: situation.isInMemory || hasRecord)
    let isPersisted =
      switch stage() {
      case .record: true
      case .removal, .refused: false
      case .nothing: asksForResidency && hasRecord
      }
    // Only the record that ended is removed. The key still has a value if another process has written or used it since.
    func isLeft() -> Bool {
      situation.isObserved && !asksForEvent && write.removalCause == .expired && recordPresence() == .readable
    }
    // A value that is kept beside memory survives its eviction.
    let isKept = write.isPending || situation.willBeInMemory || isPersisted
    let event: WriteEvent? =
      if write.hasValue {
        // The value may have ended since the writer read it. An equal value is then a new one.
        .of(isKept: isKept, existed: existed, isAnnounced: write.isAnnounced || !existed)
      } else {
        existed && write.isAnnounced && !isLeft() ? .removed(write.removalCause) : nil
      }
    let counter: WriteCounter? =
      switch write.confirmation {
      case .stored: isKept ? .stored : .refused
      case .removed: .removed
      case .refused: .refused
      case .stillAbsent, nil: nil
      }
    let residency = write.isPending || isPersisted ? Residency.bothTiers : .memoryOnly
    let keepsFlight = write.confirmation == nil || write.effect == .olderAddition
    return WriteDecision(
      .replace(residency, keepsFlight: keepsFlight), effect: write.effect,
      editMark: situation.editMark(isPending: write.isPending), event: situation.isObserved ? event : nil,
      counter: counter)
  }

  private static func promotion(
    in situation: WriteSituation, rewriting: RewriteReason?, stage: () -> StagingOutcome
  ) -> (Residency, WriteEvent?, WriteCounter?) {
    guard let rewriting else { return (.bothTiers, nil, nil) }
    switch stage() {
    case .record, .removal, .nothing: return (.bothTiers, nil, rewriting == .migration ? .migrated : nil)
    case .refused: return (.memoryOnly, situation.willBeInMemory ? nil : .removed(.refused), nil)
    }
  }
}

extension WriteSituation {
  /// Returns the effect of a write on the edits of its key, which are pending after it or not.
  ///
  /// Edits that do not begin or end are not counted: another key with the same fingerprint can have some.
  fileprivate func editMark(isPending: Bool) -> EditMark {
    if isEdited == isPending { return .unchanged }
    return isPending ? .began : .ended
  }
}

extension WriteEvent {
  /// Returns the event of a write that gives a key a value. A value that no tier can hold removes the older one.
  @inlinable
  static func of(isKept: Bool, existed: Bool, isAnnounced: Bool) -> WriteEvent? {
    if !isKept { return existed ? .removed(.refused) : nil }
    guard isAnnounced else { return existed ? .unannounced : nil }
    return existed ? .updated : .inserted
  }

  /// Returns the event of an eviction from memory.
  ///
  /// - Parameters:
  ///   - residency: The places that held the value.
  ///   - isTierClosed: Whether the second tier, which may hold the same value, is closed.
  ///   - isExpired: Whether the lifetime and the grace of the value have ended.
  /// - Returns: The event; nil if the second tier still holds the value.
  static func ofEviction(from residency: Residency, isTierClosed: Bool, isExpired: Bool) -> WriteEvent? {
    // The second tier has the value still.
    if residency == .bothTiers, !isTierClosed { return nil }
    return .removed(isExpired ? .expired : .evicted)
  }
}

extension DiscardReason {
  fileprivate var cause: RemovalCause {
    switch self {
    case .expired: .expired
    case .undecodable: .lost
    case .outdated: .outdated
    }
  }

  fileprivate var counter: WriteCounter {
    switch self {
    case .expired: .expired
    case .undecodable: .undecodable
    case .outdated: .outdated
    }
  }
}
