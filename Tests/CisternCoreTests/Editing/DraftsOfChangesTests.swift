import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Drafts that read a value which was written after the draft first used its key.
struct DraftsOfChangesTests {
  /// The removal of a value with the tag "tag".
  enum Removal: CaseIterable, Sendable {
    case key, tag, prefix, all

    func apply(to cache: Cache<String, Fields>) {
      switch self {
      case .key: cache["k"] = nil
      case .tag: cache.removeAll(tagged: "tag")
      case .prefix: cache.removeAll(withPrefix: "k")
      case .all: cache.removeAll()
      }
    }
  }

  private static func subject(
    _ kind: FieldsSubject.Kind, on executor: SeededExecutor, expiry: Expiry = .never
  ) throws -> FieldsSubject {
    var configuration = CacheConfiguration<Fields>()
    configuration.isEqual = { $0 == $1 }
    return try FieldsSubject(kind, on: executor, expiry: expiry, configuration: configuration)
  }

  @Test(arguments: FieldsSubject.Kind.allCases, Removal.allCases)
  func `a draft that read a value does not save over its removal, although the key was absent before`(
    kind: FieldsSubject.Kind, removal: Removal
  ) throws {
    for isNested in [false, true] {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try Self.subject(kind, on: executor)
        let cache = subject.cache
        let outer = cache.draft()
        let draft = isNested ? outer.draft() : outer
        try #require(draft["k"] == nil)
        cache.setValue(["v": 1], forKey: "k", tags: ["tag"])
        draft["k"] = draft["k"]?.merging(["mine": 1]) { $1 }
        removal.apply(to: cache)
        if isNested { try draft.save() }
        try #require(outer.conflicts == ["k"])
        let error = #expect(throws: CisternError.self) { try outer.save() }
        try #require(error?.code == .conflict && cache["k"] == nil)
        draft.discard()
        outer.discard()
        try #require(subject.findings == [])
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a draft that read a changed value conflicts although the first value is back, until it is saved`(
    kind: FieldsSubject.Kind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Self.subject(kind, on: executor)
      let cache = subject.cache
      cache["k"] = ["v": 1]
      let draft = cache.draft()
      let child = draft.draft()
      // The child keeps the base of the key after the save.
      try #require(child["k"] == ["v": 1])
      cache["k"] = ["v": 2]
      draft["k"] = draft["k"]?.merging(["mine": 1]) { $1 }
      cache["k"] = ["v": 1]
      try #require(draft.conflicts == ["k"])
      try draft.save(onConflict: .mine)
      try #require(cache["k"] == ["v": 2, "mine": 1])
      // A value that the draft has not read hides nothing.
      cache["k"] = ["v": 3]
      cache["k"] = ["v": 2, "mine": 1]
      draft["k"] = ["mine": 2]
      try #require(draft.conflicts == [])
      try draft.save()
      child.discard()
      draft.discard()
      try #require(cache["k"] == ["mine": 2] && subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, [false, true])
  func `a draft that read a key after the end of its value compares the values`(
    kind: FieldsSubject.Kind, isInGrace: Bool
  ) throws {
    for setsBefore in [false, true] where isInGrace || !setsBefore {
      try SeededExecutor.run(seed: 0) { executor in
        let expiry = Expiry.after(.seconds(60), graceStale: isInGrace ? .seconds(600) : .zero)
        let subject = try Self.subject(kind, on: executor, expiry: expiry)
        let cache = subject.cache
        cache["k"] = ["v": 1]
        let draft = cache.draft()
        try #require(draft["k"] == ["v": 1])
        if setsBefore { cache["k"] = ["v": 1] }
        subject.clock.advance(by: .seconds(61))
        try #require(draft["k"] == nil)
        draft["k"] = ["mine": 1]
        if !setsBefore { cache["k"] = ["v": 1] }
        try #require(draft.conflicts == [])
        try draft.save()
        try #require(cache["k"] == ["mine": 1] && subject.findings == [])
      }
    }
  }

  @Test(arguments: [FieldsSubject.Kind.twoTiers, .staging], Removal.allCases)
  func `the removal of a value that another process wrote is a change for a draft, if this process has read it`(
    kind: FieldsSubject.Kind, removal: Removal
  ) throws {
    for (readsInDraft, compares) in [(false, false), (true, false), (true, true)] {
      try SeededExecutor.run(seed: 0) { executor in
        var configuration = CacheConfiguration<Fields>()
        // With a comparison, a draft that has not read the value saves over its removal: the key is absent as before.
        if compares { configuration.isEqual = { $0 == $1 } }
        let subject = try FieldsSubject(kind, on: executor, configuration: configuration)
        let (cache, tier) = (subject.cache, try #require(subject.tier))
        cache.setValue(["theirs": 1], forKey: "other", tags: ["tag"])
        try await tier.flush()
        let key = Array("other".utf8)
        let record = cache.secondTier?.partition.withRecord(forKey: key.rawSpan) {
          StoredRecord(metadata: $0, bytes: $1.copiedBytes())
        }
        try #require(record != nil)
        let draft = cache.draft()
        try #require(draft["k"] == nil)
        tier.changeAsOtherProcess("k", in: "fields", to: record)
        let read = readsInDraft ? draft["k"] : cache["k"]
        try #require(read == ["theirs": 1])
        draft["k"] = ["theirs": 1, "mine": 1]
        removal.apply(to: cache)
        try await tier.flush()
        try #require(draft.conflicts == ["k"])
        let error = #expect(throws: CisternError.self) { try draft.save() }
        try #require(error?.code == .conflict && cache["k"] == nil)
        draft.discard()
        try #require(subject.findings == [])
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `the value of a policy replaces the one below in a cache that merges, if the draft removed the key`(
    kind: FieldsSubject.Kind
  ) throws {
    for setsAfterwards in [false, true] {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try FieldsSubject(kind, on: executor)
        let cache = subject.cache
        cache["k"] = ["old": 1]
        let draft = cache.draft()
        draft["k"] = nil
        if setsAfterwards { draft["k"] = ["mine": 1] }
        cache["k"] = ["theirs": 1]
        try draft.save(onConflict: .merge { _ in ["resolved": 1] })
        try #require(subject.valuesFromBothTiers("k") == [["resolved": 1], ["resolved": 1]])
        try #require(subject.findings == [])
      }
    }
  }
}
