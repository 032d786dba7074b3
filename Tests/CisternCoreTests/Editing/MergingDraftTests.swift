import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// Drafts and batches in a cache that merges, and conflicts of equal values.
struct MergingDraftTests {
  @Test(arguments: FieldsSubject.Kind.allCases)
  func `values of one key are merged across all layers of drafts, as they are in the cache`(
    kind: FieldsSubject.Kind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let cache = subject.cache
      cache["k"] = ["cached": 1, "first": 0]
      let outer = cache.draft()
      let inner = outer.draft()
      outer["k"] = ["first": 1]
      inner["k"] = ["second": 1]
      inner["k"] = ["third": 1]
      try #require(outer["k"] == ["first": 1] && inner["k"] == ["second": 1, "third": 1])
      try inner.save()
      try #require(outer["k"] == ["first": 1, "second": 1, "third": 1])
      try outer.save()
      let all: Fields = ["cached": 1, "first": 1, "second": 1, "third": 1]
      try #require(subject.valuesFromBothTiers("k") == [all, all])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `values set twice in a batch are merged, but not with the cached value after a removal`(
    kind: FieldsSubject.Kind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let cache = subject.cache
      for key in ["merged", "replaced"] { cache[key] = ["cached": 1] }
      try cache.batch { batch in
        batch.setValue(["lost": 1], forKey: "replaced")
        batch.removeValue(forKey: "replaced")
        for key in ["merged", "replaced"] {
          batch.setValue(["first": 1], forKey: key)
          batch.setValue(["second": 1], forKey: key)
        }
      }
      let merged: Fields = ["cached": 1, "first": 1, "second": 1]
      let replaced: Fields = ["first": 1, "second": 1]
      try #require(subject.valuesFromBothTiers("merged") == [merged, merged])
      try #require(subject.valuesFromBothTiers("replaced") == [replaced, replaced])
      let draft = cache.draft()
      draft["merged"] = nil
      draft["merged"] = ["only": 1]
      let inner = draft.draft()
      inner["merged"] = ["inner": 1]
      inner["replaced"] = nil
      inner["replaced"] = ["only": 1]
      try inner.save()
      try draft.save()
      try #require(cache["merged"] == ["only": 1, "inner": 1] && cache["replaced"] == ["only": 1])
      try #require(subject.findings == [])
    }
  }

  @Test func `a JSON null in a later write of a batch removes the field that an earlier write set`() throws {
    let documents = try Store.inMemory(memoryLimit: .mebibytes(1)).cache(
      "documents", of: String.self, keyedBy: String.self, configuration: CacheConfiguration(merge: JSONMergePatch.merge)
    )
    documents["d"] = #"{"a":0,"b":0}"#
    try documents.batch { batch in
      batch.setValue(#"{"a":1}"#, forKey: "d")
      batch.setValue(#"{"a":null}"#, forKey: "d")
    }
    #expect(documents["d"] == #"{"b":0}"#)
  }

  @Test func `a batch with two values that cannot be merged stores nothing`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(.memory, on: executor)
      let error = #expect(throws: CisternError.self) {
        try subject.cache.batch { batch in
          batch.setValue(["other": 1], forKey: "other")
          batch.setValue(["first": 1], forKey: "k")
          batch.setValue(unmergeable, forKey: "k")
        }
      }
      try #require(error?.code == .notMerged && subject.cache["k"] == nil && subject.cache["other"] == nil)
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a merging cache merges a policy's value like the draft's, and replaces only after the draft's removal`(
    kind: FieldsSubject.Kind
  ) throws {
    for removesFirst in [true, false] {
      for policy in [DraftConflictPolicy<String, Fields>.mine, .merge { $0.mine }] {
        try SeededExecutor.run(seed: 0) { executor in
          let subject = try FieldsSubject(kind, on: executor)
          let cache = subject.cache
          cache["k"] = ["title": 1, "text": 1]
          let draft = cache.draft()
          _ = draft["k"]
          if removesFirst { draft["k"] = nil }
          draft["k"] = ["title": 2]
          cache["k"] = ["text": 2]
          try draft.save(onConflict: policy)
          let end: Fields = removesFirst ? ["title": 2] : ["title": 2, "text": 2]
          try #require(subject.valuesFromBothTiers("k") == [end, end])
        }
      }
    }
  }

  enum Rewrite: CaseIterable, Sendable {
    case set, setBack, removal, update, otherTag

    func apply(to cache: Cache<String, Fields>, value: Fields?) {
      switch self {
      case .set: cache["k"] = value
      case .setBack:
        cache["k"] = ["between": 1]
        cache["k"] = nil
        cache["k"] = value
      case .removal:
        cache["k"] = nil
        cache["k"] = value
      case .update: cache.updateValue(forKey: "k") { $0 = value }
      case .otherTag: cache.removeAll(tagged: "other")
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, Rewrite.allCases)
  func `with isEqual, a key with an equal value again is not a conflict, but another value is`(
    kind: FieldsSubject.Kind, rewrite: Rewrite
  ) throws {
    for value in [["v": 1], nil] as [Fields?] {
      for readsFirst in [true, false] {
        for nests in [true, false] {
          try SeededExecutor.run(seed: 0) { executor in
            let subject = try FieldsSubject(kind, on: executor, configuration: CacheConfiguration(isEqual: ==))
            let cache = subject.cache
            cache["k"] = value
            let outer = cache.draft()
            let draft = nests ? outer.draft() : outer
            if readsFirst { _ = draft["k"] }
            draft["k"] = ["mine": 1]
            rewrite.apply(to: cache, value: value)
            if nests { try draft.save() }
            try #require(outer.conflicts == [])
            cache["k"] = ["theirs": 1]
            try #require(outer.conflicts == ["k"])
            let error = #expect(throws: CisternError.self) { try outer.save() }
            try #require(error?.code == .conflict)
            rewrite.apply(to: cache, value: value)
            if rewrite == .otherTag { cache["k"] = value }
            try outer.save()
            try #require(subject.valuesFromBothTiers("k") == [["mine": 1], ["mine": 1]])
            withExtendedLifetime(draft) {}
          }
        }
      }
    }
  }
}
