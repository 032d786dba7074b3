import Testing

@testable import CisternCore

/// The decision on a write: every kind of write in every situation, with every answer of the second tier.
struct WriteDecisionTests {
  private static let bools = [false, true]

  private static var intents: [WriteIntent] {
    var intents: [WriteIntent] = [.noteUse, .remove(stagesAlways: false), .remove(stagesAlways: true)]
    for effect in [WriteEffect.replacement, .addition, .olderAddition, .maintenance] {
      intents += bools.map { .store(effect: effect, isAnnounced: $0) }
    }
    for isCounted in bools {
      intents.append(.expire(isCounted: isCounted))
      intents += DiscardReason.allCases.map { .discard($0, isCounted: isCounted) }
    }
    intents += LossCause.allCases.map { .noteRecordLoss($0) }
    for keepsFlight in bools {
      intents += [nil, .migration, .use].map { .promote(keepsFlight: keepsFlight, rewriting: $0) }
    }
    return intents + shownWrites.map { .show($0) }
  }

  private static var shownWrites: [ShownWrite] {
    var writes: [ShownWrite] = []
    for confirmation in ShownWrite.Confirmation.allCases.map(Optional.some) + [nil] {
      for (isPending, hasValue, isAnnounced) in triples {
        var write = ShownWrite(isPending: isPending, hasValue: hasValue, isAnnounced: isAnnounced)
        write.confirmation = confirmation
        write.removalCause = isPending ? .explicit : .expired
        for effect in [WriteEffect.olderAddition, isPending ? .addition : .replacement] {
          write.effect = effect
          writes.append(write)
        }
      }
    }
    return writes
  }

  private static var triples: [(Bool, Bool, Bool)] {
    bools.flatMap { first in bools.flatMap { second in bools.map { (first, second, $0) } } }
  }

  private static var situations: [WriteSituation] {
    var situations: [WriteSituation] = []
    for (isInMemory, willBeInMemory, isObserved) in triples {
      for edits in WriteSituation.ShownPresence.allCases {
        var situation = WriteSituation(isInMemory: isInMemory, willBeInMemory: willBeInMemory, isObserved: isObserved)
        situation.edits = edits
        situations.append(situation)
      }
    }
    return situations
  }

  /// A decision, and the calls of the second tier that it made.
  private struct Trial {
    var decision = WriteDecision.forget
    var questions = 0
    var stagings = 0

    /// `later` is the answer of the tier after it got the write.
    init(
      _ intent: WriteIntent, _ situation: WriteSituation, _ presence: RecordPresence, _ staging: StagingOutcome,
      later: RecordPresence
    ) {
      var calls: [String] = []
      decision = WriteDecision.decide(intent, in: situation) {
        calls.append("ask")
        return calls.contains("stage") ? later : presence
      } stage: {
        calls.append("stage")
        return staging
      }
      questions = calls.count { $0 == "ask" }
      stagings = calls.count { $0 == "stage" }
      isInOrder =
        switch calls {
        case ["stage", "ask"]: intent.endsLifetime || intent.isDiscard && situation.isInMemory
        case ["ask", "stage", "ask"]: intent.isDiscard && !situation.isInMemory && presence == .readable
        default: questions <= 1
        }
    }

    /// Whether the presence was read at most once, and before the write was staged. The end of a lifetime reads it
    /// afterwards, and so does a discard beside a value in memory. Another discard of a record that the tier has reads
    /// it again.
    var isInOrder = true
  }

  /// The rules of a write, written down a second time: by property and not by kind of write.
  private struct Rules {
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

  @Test func `every write obeys the rules in every situation`() {
    var cases = 0
    for intent in Self.intents {
      for situation in Self.situations {
        for presence in RecordPresence.allCases {
          for staging in StagingOutcome.allCases {
            for later in intent.isDiscard ? RecordPresence.allCases : [presence] {
              let trial = Trial(intent, situation, presence, staging, later: later)
              let rules = Rules(
                intent: intent, situation: situation, presence: presence, staging: staging, later: later)
              let expected = WriteDecision(
                rules.entryChange, effect: rules.effect, editMark: rules.editMark, event: rules.event,
                counter: rules.counter)
              if trial.decision != expected || trial.stagings != (rules.isStaged ? 1 : 0) {
                Issue.record("\(intent) in \(situation), \(presence), \(staging): \(trial) instead of \(expected)")
              }
              if !trial.isInOrder { Issue.record("\(intent) in \(situation): \(trial)") }
              cases += 1
            }
          }
        }
      }
    }
    // 107 writes, 24 situations, 4 records and 4 answers. 6 of the writes are discards, with 4 records afterwards.
    #expect(cases == (101 + 6 * 4) * 24 * 16)
    print("decisions on writes covered: \(cases)")
  }

  @Test func `without observers a store does not ask the second tier`() {
    for situation in Self.situations where !situation.isObserved {
      for isAnnounced in Self.bools {
        let trial = Trial(
          .store(effect: .replacement, isAnnounced: isAnnounced), situation, .readable, .record, later: .readable)
        #expect(trial.questions == 0)
      }
    }
  }

  @Test func `each counter of a write is a counter of the shard`() {
    let all: [WriteCounter] = [.stored, .removed, .refused, .migrated, .expired, .undecodable, .outdated]
    var counters = ShardCounters()
    for counter in all { counters.count(counter) }
    var expected = ShardCounters()
    (expected.stores, expected.removals, expected.refused, expected.migrated) = (1, 1, 1, 1)
    (expected.expirations, expected.notDecodable, expected.dropped) = (1, 1, 1)
    for hit in [RecordHit.uncounted, .fresh, .stale] { counters.count(hit) }
    (expected.diskHits, expected.staleHits) = (2, 1)
    #expect(counters == expected)
  }
}

extension WriteIntent {
  /// Whether the write removes a record that a reader cannot use.
  fileprivate var isDiscard: Bool { if case .discard = self { true } else { false } }

  /// Whether the write ends a lifetime. Only the record that ended is removed, and another one may be left.
  fileprivate var endsLifetime: Bool {
    switch self {
    case .expire: true
    case .show(let write): !write.hasValue && write.removalCause == .expired
    default: false
    }
  }
}
