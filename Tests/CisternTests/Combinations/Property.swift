/// What is true after every combination.
struct Property: Sendable {
  /// What contradicts a property.
  struct Finding: Sendable, CustomStringConvertible {
    let property: String
    let text: String

    var description: String { "\(property): \(text)" }
  }

  let name: String
  /// What contradicts it, in words; empty if nothing does.
  let findings: @Sendable (Evidence) -> [String]

  init(_ name: String, _ findings: @escaping @Sendable (Evidence) -> [String]) {
    self.name = name
    self.findings = findings
  }

  static let all: [Property] = [
    nothingErasedIsReadable, writesAreKept, unconfirmedEditsLeaveNoTrace, editsDoNotProlongLifetimes, observersAgree,
    tiersAgree, tagsStay, limitsHold, freshValuesAreReturned, oneFetchAtOnce, failuresAreLeftAlone,
    dueValuesAreRefreshed,
    staleSourcesAreTrue, attemptsHaveCauses, conflictsHaveCauses, everyCallerIsAnswered, removalsAreCounted,
    nothingIsLeftOver,
  ]
}

extension Record.Span {
  /// Whether all of this one came before all of the other.
  func isBefore(_ other: Record.Span) -> Bool { ended < other.began }
}
