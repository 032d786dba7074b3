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

  @Test func `every write obeys the rules in every situation`() {
    var cases = 0
    for intent in Self.intents {
      for situation in Self.situations {
        for presence in RecordPresence.allCases {
          for staging in StagingOutcome.allCases {
            for later in intent.isDiscard ? RecordPresence.allCases : [presence] {
              let trial = Trial(intent, situation, presence, staging, later: later)
              let rules = WriteDecisionRules(
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
