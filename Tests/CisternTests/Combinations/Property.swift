/// A property that must hold after every combination.
struct Property: Sendable {
  /// A contradiction of a property.
  struct Finding: Sendable, CustomStringConvertible {
    let property: String
    let text: String

    var description: String { "\(property): \(text)" }
  }

  let name: String
  /// Returns a description of each contradiction in the evidence.
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
    nothingIsLeftOver, contentsAgree, batchesAreWhole, removingOutcomesRemove, unstoredResultsStayOut,
    enumerationsAgree, windowsAreKept, openCircuitsCallNothing, removalsReachEveryCache, failuresAreCounted,
    readOnlyFilesStay, lostWritesStayOut,
  ]
}

extension Record.Span {
  /// Returns whether this span ended before another span began.
  func isBefore(_ other: Record.Span) -> Bool { ended < other.began }
}
