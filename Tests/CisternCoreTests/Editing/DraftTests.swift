import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

struct DraftTests {
  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a draft reads the cache, isolates its writes, and saves them as one change set`(
    kind: FieldsSubject.Kind
  ) throws {
    try SeededSchedule.explore(seeds: 30) { executor in
      let subject = try FieldsSubject(kind, on: executor, configuration: CacheConfiguration())
      let cache = subject.cache
      for key in ["a", "b"] { cache[key] = ["v": 0] }
      let sets = Recorder<ChangeSet<String, Fields>>()
      let token = cache.observeChangeSets { sets.record($0) }
      let draft = cache.draft()
      try #require(draft["a"] == ["v": 0] && draft["c"] == nil && draft.isEmpty)
      draft["a"]?["w"] = 1
      draft["b"] = nil
      draft["c"] = ["v": 1]
      try #require(draft["a"] == ["v": 0, "w": 1] && draft["b"] == nil && draft.writtenKeys == ["a", "b", "c"])
      try #require(cache["a"] == ["v": 0] && cache["b"] == ["v": 0] && cache["c"] == nil)
      let me = WriterContext()
      try draft.save(context: me)
      try #require(draft.isEmpty && draft["a"] == ["v": 0, "w": 1])
      try #require(subject.valuesFromBothTiers("a") == [["v": 0, "w": 1], ["v": 0, "w": 1]])
      try #require(cache["b"] == nil && cache["c"] == ["v": 1])
      while sets.count < 1 { await Task.yield() }
      try #require(sets.count == 1 && sets.elements[0].context == me && sets.elements[0].changes.count == 3)
      // After the save, the draft continues as an empty layer.
      draft["a"] = nil
      draft.discard()
      try draft.save()
      try #require(draft.isEmpty && cache["a"] == ["v": 0, "w": 1])
      token.cancel()
      try #require(cache.checkInvariants() == [])
    }
  }

  @Test func `a draft watches the keys that it used until it is saved, discarded or released`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(.memory, on: executor)
      do {
        let draft = subject.cache.draft()
        for key in ["a", "b"] {
          _ = draft[key]
          draft[key] = ["v": 1]
        }
        try #require(!subject.cache.watchFindings.isEmpty)
        try draft.save()
        try #require(subject.cache.watchFindings.isEmpty)
        _ = draft["c"]
        try #require(!subject.cache.watchFindings.isEmpty)
        draft.discard()
        try #require(subject.cache.watchFindings.isEmpty)
        draft["c"] = ["v": 1]
        _ = draft.draft()["d"]
      }
      try #require(subject.findings == [])
    }
  }

  @Test func `a nested draft saves its writes to its parent draft`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(.twoTiers, on: executor, configuration: CacheConfiguration())
      let cache = subject.cache
      cache["a"] = ["v": 0]
      let outer = cache.draft()
      outer["a"] = ["v": 1]
      let inner = outer.draft()
      try #require(inner["a"] == ["v": 1])
      inner["a"] = ["v": 2]
      inner["b"] = ["v": 2]
      let other = outer.draft()
      other["c"] = ["v": 3]
      other.discard()
      try #require(outer["a"] == ["v": 1] && outer["b"] == nil)
      try inner.save()
      try #require(outer["a"] == ["v": 2] && outer["b"] == ["v": 2] && cache["a"] == ["v": 0] && cache["b"] == nil)
      try outer.save()
      try #require(cache["a"] == ["v": 2] && cache["b"] == ["v": 2] && cache["c"] == nil)
      try #require(subject.findings == [])
    }
  }

  enum Meanwhile: CaseIterable, Sendable {
    case set, removal, clear, update, anotherDraft, load

    func apply(to cache: Cache<String, Fields>) async throws {
      switch self {
      case .set: cache["k"] = ["theirs": 1]
      case .removal: cache["k"] = nil
      case .clear: cache.removeAll()
      case .update: Self.update(cache)
      case .anotherDraft:
        let draft = cache.draft()
        draft["k"] = ["theirs": 1]
        try draft.save()
      case .load:
        cache["k"] = nil
        _ = try await cache.value(forKey: "k") { _ in ["theirs": 1] }
      }
    }

    private static func update(_ cache: Cache<String, Fields>) { cache.updateValue(forKey: "k") { $0 = ["theirs": 1] } }

    var left: Fields? { self == .removal || self == .clear ? nil : ["theirs": 1] }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, Meanwhile.allCases)
  func `a key that changed since the draft first used it is a conflict, which the policy resolves`(
    kind: FieldsSubject.Kind, meanwhile: Meanwhile
  ) throws {
    for policy in 0..<4 {
      for readsFirst in [true, false] {
        for nests in [true, false] {
          try SeededExecutor.run(seed: 0) { executor in
            let subject = try FieldsSubject(kind, on: executor, configuration: CacheConfiguration())
            let cache = subject.cache
            cache["k"] = ["original": 1]
            let outer = cache.draft()
            let draft = nests ? outer.draft() : outer
            if readsFirst { _ = draft["k"] }
            draft["k"] = ["mine": 1]
            // A clear is a change of every key.
            let other: Fields? = meanwhile == .clear ? nil : ["mine": 1]
            if let other { draft["other"] = other }
            // Moving between tiers does not change a value.
            if kind != .memory { cache.trim(toCost: 0) }
            _ = cache["k"]
            try #require(outer.conflicts == [])
            try await meanwhile.apply(to: cache)
            if nests { try draft.save() }
            try #require(outer.conflicts == ["k"])
            var end: Fields? = ["mine": 1]
            switch policy {
            case 0:
              let error = #expect(throws: CisternError.self) { try outer.save() }
              try #require(error?.code == .conflict)
              try #require((error?.cause as? DraftConflictError<String>)?.keys == ["k"])
              try #require(cache["k"] == meanwhile.left && cache["other"] == nil)
              // After the error, the draft still has all its writes.
              try outer.save(onConflict: .mine)
            case 1:
              try outer.save(onConflict: .theirs)
              end = meanwhile.left
            case 2:
              try outer.save(onConflict: .mine)
            default:
              let expected: Fields? = readsFirst ? ["original": 1] : nil
              try outer.save(
                onConflict: .merge { conflict in
                  try #require(conflict.key == "k" && conflict.original == expected)
                  return (conflict.theirs ?? [:]).merging(conflict.mine ?? [:]) { $1 }
                })
              end = (meanwhile.left ?? [:]).merging(["mine": 1]) { $1 }
            }
            try #require(subject.valuesFromBothTiers("k") == [end, end] && cache["other"] == other)
            withExtendedLifetime(draft) {}
          }
        }
      }
    }
  }

  @Test func `the policy also resolves a conflict between a draft and its nested draft`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(.memory, on: executor, configuration: CacheConfiguration())
      let outer = subject.cache.draft()
      let inner = outer.draft()
      _ = inner["k"]
      inner["k"] = ["inner": 1]
      outer["k"] = ["outer": 1]
      let error = #expect(throws: CisternError.self) { try inner.save() }
      try #require(error?.code == .conflict && outer["k"] == ["outer": 1])
      let unresolved = #expect(throws: CisternError.self) { try inner.save(onConflict: .merge { _ in throw Broken() }) }
      try #require(unresolved?.code == .notMerged && inner["k"] == ["inner": 1])
      // The cache has no merge.
      try #require(unresolved?.recoverySuggestion == "Correct the conflict policy, or save with another one")
      try inner.save(onConflict: .merge { ($0.theirs ?? [:]).merging($0.mine ?? [:]) { $1 } })
      try #require(outer["k"] == ["outer": 1, "inner": 1])
      let again = outer.draft()
      again["k"] = ["again": 1]
      outer.discard()
      try #require(again.conflicts == ["k"])
      try again.save(onConflict: .theirs)
      try #require(outer["k"] == nil)
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `concurrent drafts that increment counts and retry conflicts lose no increment`(kind: FieldsSubject.Kind) throws
  {
    try SeededSchedule.explore(seeds: 150) { executor in
      let subject = try FieldsSubject(kind, on: executor, configuration: CacheConfiguration())
      let cache = subject.cache
      let tasks = (0..<4).map { number in
        subject.task {
          for _ in 0..<2 {
            let draft = cache.draft()
            while true {
              for key in ["a", "b"] { draft[key] = ["count": (draft[key]?["count"] ?? 0) + 1] }
              await Task.yield()
              do {
                try draft.save()
                break
              } catch let error as CisternError {
                try #require(error.code == .conflict)
                draft.discard()
              }
            }
            if number == 0, kind != .memory { cache.trim(toCost: 0) }
          }
        }
      }
      for task in tasks { try await task.value }
      try #require(subject.valuesFromBothTiers("a") == [["count": 8], ["count": 8]])
      try #require(cache["b"] == ["count": 8])
      try #require(subject.findings == [])
    }
  }

  @Test
  func `after a crash a saved draft is present completely or not at all, and a committed draft is present`() throws {
    for commits in 0..<6 {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try FieldsSubject(.staging, on: executor)
        let draft = subject.cache.draft()
        for number in 0..<3 { draft["\(number)"] = ["v": 1] }
        try draft.save()
        subject.tier?.commit(commits)
        let again = try FieldsSubject(.staging, on: executor, tier: subject.tier?.reopenedAfterCrash()).cache
        try #require(Set((0..<3).map { again["\($0)"] != nil }).count == 1)
      }
    }
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(.staging, on: executor)
      let draft = subject.cache.draft()
      draft["a"] = ["v": 1]
      let commit = subject.task { try await draft.commit() }
      while subject.cache["a"] == nil { await Task.yield() }
      subject.tier?.commit()
      try await commit.value
      let again = try FieldsSubject(.staging, on: executor, tier: subject.tier?.reopenedAfterCrash()).cache
      try #require(again["a"] == ["v": 1])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `random operations on nested drafts agree with nested dictionaries`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 80) { executor in
      let subject = try Subject(kind, on: executor)
      var generator = SeededGenerator(seed: executor.seed)
      // The drafts, and the models of all layers, with the cache's model first. Only the topmost layer is used, so
      // that no conflict occurs.
      var drafts: [Draft<String, Int>] = []
      var models: [[String: Int]] = [[:]]
      for step in 0..<120 {
        let key = "key \(generator.next(below: 8))"
        switch generator.next(below: 10) {
        case 0 where drafts.count < 4:
          drafts.append(drafts.last?.draft() ?? subject.cache.draft())
          models.append(models[models.count - 1])
        case 1 where !drafts.isEmpty:
          try drafts.removeLast().save()
          let saved = models.removeLast()
          models[models.count - 1] = saved
        case 2 where !drafts.isEmpty:
          drafts.removeLast().discard()
          models.removeLast()
        case 3, 4, 5:
          if let draft = drafts.last { draft[key] = step } else { subject.cache[key] = step }
          models[models.count - 1][key] = step
        case 6:
          if let draft = drafts.last { draft[key] = nil } else { subject.cache[key] = nil }
          models[models.count - 1][key] = nil
        case 7:
          if kind != .memory { subject.cache.trim(toCost: 0) }
          subject.tier?.commit(generator.next(below: 4))
        default:
          let value = drafts.last.map { $0[key] } ?? subject.cache[key]
          try #require(value == models[models.count - 1][key])
        }
        try #require(subject.cache[key] == models[0][key])
      }
      try #require(subject.findings == [])
    }
  }
}
