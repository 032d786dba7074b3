@testable import CisternCore

/// The rules of a write, written down a second time: by property and not by kind of write.
struct WriteDecisionRules {
  let intent: WriteIntent
  let situation: WriteSituation
  let presence: RecordPresence
  let staging: StagingOutcome
  /// The record after a discard was staged.
  let later: RecordPresence

  /// Whether the key had a value for observers.
  var existed: Bool {
    switch situation.edits {
    case .unedited: situation.isInMemory || presence == .readable
    case .shown: true
    case .removed: false
    }
  }

  /// Whether a tier, or the edits beside memory, have the new value.
  var isKept: Bool { isPersisted || situation.willBeInMemory || isPending }

  var isPending: Bool { if case .show(let write) = intent { write.isPending } else { false } }

  var isPersisted: Bool {
    switch (intent, staging) {
    case (.store, .record), (.show, .record): true
    case (.show(let write), .nothing):
      write.confirmation == nil && !write.isPending && write.hasValue && presence == .readable
    case (.promote(_, nil), _): true
    case (.promote, .record), (.promote, .removal), (.promote, .nothing): true
    default: false
    }
  }

  /// Whether a readable record is left after the end of a lifetime, according to the tier.
  private var isLeft: Bool {
    var isAskedBefore = !situation.isInMemory && situation.edits == .unedited
    if case .expire = intent { isAskedBefore = false }
    return intent.endsLifetime && presence == .readable && !isAskedBefore
  }

  var event: WriteEvent? {
    guard situation.isObserved else { return nil }
    switch intent {
    case .store(_, let isAnnounced): return eventOfValue(isAnnounced || !existed)
    case .show(let write) where write.hasValue: return eventOfValue(write.isAnnounced || !existed)
    case .show(let write): return existed && write.isAnnounced && !isLeft ? .removed(write.removalCause) : nil
    case .remove: return existed ? .removed(.explicit) : nil
    case .promote(_, let reason):
      return reason != nil && staging == .refused && !situation.willBeInMemory ? .removed(.refused) : nil
    case .discard(let reason, _):
      guard !situation.isInMemory, presence == .readable, later != .readable else { return nil }
      switch reason {
      case .expired: return .removed(.expired)
      case .undecodable: return .removed(.lost)
      case .outdated: return .removed(.outdated)
      }
    case .expire: return isLeft ? nil : .removed(.expired)
    case .noteUse: return staging == .refused && !situation.isInMemory ? .removed(.refused) : nil
    case .noteRecordLoss(let cause):
      guard !situation.isInMemory, situation.edits == .unedited else { return nil }
      return .removed(cause == .evicted ? .evicted : .lost)
    }
  }

  private func eventOfValue(_ isAnnounced: Bool) -> WriteEvent? {
    switch (isKept, existed) {
    case (false, true): .removed(.refused)
    case (false, false): nil
    case (true, true) where !isAnnounced: .unannounced
    case (true, false) where !isAnnounced: nil
    case (true, true): .updated
    case (true, false): .inserted
    }
  }

  var counter: WriteCounter? {
    switch intent {
    case .store: isKept ? .stored : .refused
    case .show(let write):
      switch write.confirmation {
      case .stored: isKept ? .stored : .refused
      case .removed: .removed
      case .refused: .refused
      case .stillAbsent, nil: nil
      }
    case .remove: existed ? .removed : nil
    case .promote(_, .migration): staging != .refused ? .migrated : nil
    case .discard(_, isCounted: false), .expire(isCounted: false): nil
    case .discard(.expired, _): situation.isInMemory ? nil : .expired
    case .expire: .expired
    case .discard(.undecodable, _): .undecodable
    case .discard(.outdated, _): .outdated
    case .promote, .noteUse, .noteRecordLoss: nil
    }
  }

  var entryChange: EntryChange {
    switch intent {
    case .remove: .replace(.memoryOnly, keepsFlight: false)
    case .store(let effect, _):
      .replace(isPersisted ? .bothTiers : .memoryOnly, keepsFlight: effect == .olderAddition)
    case .show(let write):
      .replace(
        isPersisted || isPending ? .bothTiers : .memoryOnly,
        keepsFlight: write.confirmation == nil || write.effect == .olderAddition)
    case .promote(let keepsFlight, _): .replace(isPersisted ? .bothTiers : .memoryOnly, keepsFlight: keepsFlight)
    case .discard:
      later == .readable && (situation.isInMemory || situation.isObserved && presence == .readable)
        ? .unchanged : .noteRecordLoss
    case .expire: .removeValue
    case .noteUse: staging == .refused ? .noteRecordLoss : .unchanged
    case .noteRecordLoss: .noteRecordLoss
    }
  }

  var effect: WriteEffect {
    switch intent {
    case .store(.maintenance, _): situation.isInMemory || presence == .readable ? .maintenance : .addition
    case .store(let effect, _): effect
    case .show(let write): write.effect
    case .remove: .replacement
    case .promote, .discard, .expire, .noteUse, .noteRecordLoss: .maintenance
    }
  }

  var editMark: EditMark {
    switch intent {
    case .remove, .show:
      switch (situation.edits != .unedited, isPending) {
      case (true, false): .ended
      case (false, true): .began
      case (true, true), (false, false): .unchanged
      }
    default: .unchanged
    }
  }

  /// Whether the second tier gets the write.
  var isStaged: Bool {
    switch intent {
    case .store, .show, .discard, .expire, .noteUse: true
    case .remove(let stagesAlways):
      stagesAlways || situation.isInMemory || situation.edits != .unedited || presence != .absent
    case .promote(_, let reason): reason != nil
    case .noteRecordLoss: false
    }
  }
}

extension WriteIntent {
  /// Whether the write removes a record that a reader cannot use.
  var isDiscard: Bool { if case .discard = self { true } else { false } }

  /// Whether the write ends a lifetime. Only the record that ended is removed, and another one may be left.
  var endsLifetime: Bool {
    switch self {
    case .expire: true
    case .show(let write): !write.hasValue && write.removalCause == .expired
    default: false
    }
  }
}
