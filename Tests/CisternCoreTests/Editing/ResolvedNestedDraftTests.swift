import CisternCore
import CisternTesting
import Testing

/// Nested drafts whose parent draft resolves a conflict when it is saved.
struct ResolvedNestedDraftTests {
  /// A policy of the parent's save, and the value that it leaves below.
  enum Resolution: CaseIterable, Sendable {
    case theirs, merge, removal, mine

    var policy: DraftConflictPolicy<String, Fields> {
      switch self {
      case .theirs: .theirs
      case .merge: .merge { _ in ["resolved": 1] }
      case .removal: .merge { _ in nil }
      case .mine: .mine
      }
    }

    var result: Fields? {
      switch self {
      case .theirs: ["theirs": 1]
      case .merge: ["resolved": 1]
      case .removal: nil
      case .mine: ["outer": 1]
      }
    }

    func storePolicy(of cache: Cache<String, Fields>) -> StoreDraftConflictPolicy {
      .throw.resolving(cache, by: policy)
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, Resolution.allCases)
  func `a value that the parent's policy leaves below is a change for a nested draft, unless it is the parent's own`(
    kind: FieldsSubject.Kind, resolution: Resolution
  ) throws {
    for readsBefore in [true, false] {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try FieldsSubject(plain: kind, on: executor)
        let cache = subject.cache
        let outer = cache.draft()
        let inner = outer.draft()
        outer["a"] = ["outer": 1]
        if readsBefore { _ = inner["a"] } else { inner["a"] = ["early": 1] }
        cache["a"] = ["theirs": 1]
        try outer.save(onConflict: resolution.policy)
        try #require(cache["a"] == resolution.result)
        inner["a"] = ["inner": 1]
        if resolution == .mine {
          try inner.save()
          try outer.save()
          try #require(cache["a"] == ["inner": 1])
        } else {
          try #require(inner.conflicts == ["a"])
          let error = #expect(throws: CisternError.self) { try inner.save() }
          try #require(error?.code == .conflict && cache["a"] == resolution.result)
          // The draft that knows the value replaces it.
          inner.discard()
          try #require(inner["a"] == resolution.result)
          inner["a"] = ["again": 1]
          try inner.save()
          try outer.save()
          try #require(cache["a"] == ["again": 1])
        }
        outer.discard()
        inner.discard()
        try #require(subject.findings == [])
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, Resolution.allCases)
  func `a draft over several caches detects a value that the policy of its parent left below`(
    kind: FieldsSubject.Kind, resolution: Resolution
  ) throws {
    for savesIntoDraft in [true, false] {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try FieldsSubject(plain: kind, on: executor)
        let cache = subject.cache
        let outermost = subject.store.draft()
        let outer = savesIntoDraft ? outermost.draft() : outermost
        let inner = outer.draft()
        outer["a", in: cache] = ["outer": 1]
        _ = inner["a", in: cache]
        if savesIntoDraft { outermost["a", in: cache] = ["theirs": 1] } else { cache["a"] = ["theirs": 1] }
        try outer.save(onConflict: resolution.storePolicy(of: cache))
        try #require(outer["a", in: cache] == resolution.result)
        inner["a", in: cache] = ["inner": 1]
        try #require(inner.conflicts(in: cache) == (resolution == .mine ? [] : ["a"]))
        for draft in [inner, outer, outermost] { draft.discard() }
        try #require(subject.findings == [])
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a value that a save merges with another writer's is a change for a nested draft`(
    kind: FieldsSubject.Kind
  ) throws {
    for savesIntoDraft in [true, false] {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try FieldsSubject(kind, on: executor)
        let cache = subject.cache
        let outermost = cache.draft()
        let outer = savesIntoDraft ? outermost.draft() : outermost
        let inner = outer.draft()
        outer["a"] = ["outer": 1]
        _ = inner["a"]
        if savesIntoDraft { outermost["a"] = ["theirs": 1] } else { cache["a"] = ["theirs": 1] }
        try outer.save(onConflict: .mine)
        try #require(outer["a"] == ["outer": 1, "theirs": 1])
        inner["a"] = nil
        try #require(inner.conflicts == ["a"])
        for draft in [inner, outer, outermost] { draft.discard() }
        try #require(subject.findings == [])
      }
    }
  }

  @Test func `a key that the parent wrote again during its save keeps the version that a nested draft read`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: .memory, on: executor)
      let cache = subject.cache
      let outer = cache.draft()
      let inner = outer.draft()
      outer["a"] = ["outer": 1]
      cache["a"] = ["theirs": 1]
      try outer.save(
        onConflict: .merge { _ in
          outer["a"] = ["later": 1]
          _ = inner["a"]
          return ["resolved": 1]
        })
      try #require(cache["a"] == ["resolved": 1] && outer["a"] == ["later": 1])
      inner["a"] = ["inner": 1]
      try inner.save()
      try outer.save()
      try #require(cache["a"] == ["inner": 1])
      for draft in [inner, outer] { draft.discard() }
      try #require(subject.findings == [])
    }
  }
}
