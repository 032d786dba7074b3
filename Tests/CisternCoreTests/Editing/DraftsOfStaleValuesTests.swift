import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// Drafts of values that are in grace when the draft is saved.
struct DraftsOfStaleValuesTests {
  private static func subject(_ kind: FieldsSubject.Kind, on executor: SeededExecutor) throws -> FieldsSubject {
    var configuration = CacheConfiguration<Fields>()
    configuration.isEqual = { $0 == $1 }
    let subject = try FieldsSubject(
      kind, on: executor, expiry: .after(.seconds(60), graceStale: .seconds(600)), configuration: configuration)
    subject.cache["k"] = ["v": 1]
    return subject
  }

  @Test(arguments: FieldsSubject.Kind.allCases, [false, true])
  func `an equal value whose lifetime has ended is no conflict`(kind: FieldsSubject.Kind, isNested: Bool) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Self.subject(kind, on: executor)
      let outer = subject.cache.draft()
      let draft = isNested ? outer.draft() : outer
      try #require(draft["k"] == ["v": 1])
      draft["k"] = ["mine": 1]
      subject.cache["k"] = ["v": 1]
      subject.clock.advance(by: .seconds(61))
      try #require(draft.conflicts == [])
      try draft.save()
      if isNested { try outer.save() }
      try #require(subject.cache["k"] == ["mine": 1] && subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, [false, true])
  func `a policy gets another value that is in grace`(kind: FieldsSubject.Kind, isNested: Bool) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Self.subject(kind, on: executor)
      let outer = subject.cache.draft()
      let draft = isNested ? outer.draft() : outer
      draft["k"] = ["mine": 1]
      subject.cache["k"] = ["theirs": 1]
      subject.clock.advance(by: .seconds(61))
      // The value changed below the outer draft.
      try #require(draft.conflicts == (isNested ? [] : ["k"]))
      let policy = DraftConflictPolicy<String, Fields>.merge { ($0.theirs ?? [:]).merging($0.mine ?? [:]) { $1 } }
      try draft.save(onConflict: policy)
      if isNested { try outer.save(onConflict: policy) }
      try #require(subject.cache["k"] == ["theirs": 1, "mine": 1] && subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, [false, true])
  func `a removal of a value in grace is a conflict, and an equal value is none`(
    kind: FieldsSubject.Kind, isNested: Bool
  ) throws {
    for change in ["removal", "removal by tag", "equal value"] {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try Self.subject(kind, on: executor)
        let cache = subject.cache
        cache.setValue(["v": 1], forKey: "k", tags: ["tag"])
        subject.clock.advance(by: .seconds(61))
        let outer = cache.draft()
        let draft = isNested ? outer.draft() : outer
        try #require(draft["k"] == nil)
        draft["k"] = ["mine": 1]
        if isNested { try draft.save() }
        switch change {
        case "removal": cache["k"] = nil
        case "removal by tag": cache.removeAll(tagged: "tag")
        default: cache["k"] = ["v": 1]
        }
        try #require(outer.conflicts == (change == "equal value" ? [] : ["k"]), "\(change)")
        outer.discard()
        try #require(subject.findings == [])
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a value that equals the one that a draft saved itself is no conflict`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Self.subject(kind, on: executor)
      let outer = subject.cache.draft()
      let draft = outer.draft()
      outer["k"] = ["saved": 1]
      try #require(draft["k"] == ["saved": 1])
      try outer.save()
      draft["k"] = ["later": 1]
      try draft.save()
      subject.cache["k"] = ["saved": 1]
      try #require(outer.conflicts == [])
      subject.cache["k"] = ["theirs": 1]
      try #require(outer.conflicts == ["k"])
      outer.discard()
      try #require(subject.findings == [])
    }
  }
}
