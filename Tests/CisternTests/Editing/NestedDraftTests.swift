import Cistern
import CisternTesting
import Testing

/// Drafts of drafts, while one below them is saved or discarded.
struct NestedDraftTests {
  enum Ending: CaseIterable, Sendable {
    case save, discard

    func apply(to draft: Draft<String, Fields>) throws {
      switch self {
      case .save: try draft.save()
      case .discard: draft.discard()
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, Ending.allCases)
  func `what a draft of a draft has seen stays seen when the one below ends with something else`(
    kind: FieldsSubject.Kind, ending: Ending
  ) throws {
    for readsFirst in [true, false] {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try FieldsSubject(plain: kind, on: executor)
        let cache = subject.cache
        cache["a"] = ["original": 1]
        let outer = cache.draft()
        let inner = outer.draft()
        if readsFirst { _ = inner["a"] } else { inner["a"] = ["mine": 1] }
        outer["b"] = ["other": 1]
        try ending.apply(to: outer)
        cache["a"] = ["theirs": 1]
        if readsFirst { inner["a"] = ["mine": 1] }
        try inner.save()
        try #require(outer.conflicts == ["a"])
        let error = #expect(throws: CisternError.self) { try outer.save() }
        try #require(error?.code == .conflict && cache["a"] == ["theirs": 1])
        outer.discard()
        inner.discard()
        try #require(subject.findings == [])
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a draft's own save is no conflict for what its draft writes after it, and what another writes is one`(
    kind: FieldsSubject.Kind
  ) throws {
    for isOvertaken in [true, false] {
      for configuration in [CacheConfiguration<Fields>(), CacheConfiguration<Fields>(isEqual: ==)] {
        try SeededExecutor.run(seed: 0) { executor in
          let subject = try FieldsSubject(kind, on: executor, configuration: configuration)
          let cache = subject.cache
          let outer = cache.draft()
          let inner = outer.draft()
          outer["a"] = ["outer": 1]
          _ = inner["a"]
          try outer.save()
          if isOvertaken {
            cache["a"] = ["theirs": 1]
            // It is read once more, and the inner draft knows nothing of that.
            _ = outer["a"]
          }
          inner["a"] = ["inner": 1]
          try inner.save()
          try #require(outer.conflicts == (isOvertaken ? ["a"] : []))
          if !isOvertaken { try outer.save() }
          try #require(cache["a"] == (isOvertaken ? ["theirs": 1] : ["inner": 1]))
          outer.discard()
          inner.discard()
          try #require(subject.findings == [])
        }
      }
    }
  }

  @Test func `a key that is written while the rest is saved is compared with what the save left`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let overtaking = Recorder<@Sendable () -> Void>()
      let configuration = CacheConfiguration<Fields>(merge: { cached, incoming in
        overtaking.removeAll().forEach { $0() }
        return try mergeFields(cached, incoming)
      })
      let subject = try FieldsSubject(.memory, on: executor, configuration: configuration)
      let cache = subject.cache
      cache["a"] = ["base": 1]
      cache["b"] = ["base": 1]
      let draft = cache.draft()
      draft["a"] = ["first": 1]
      draft["b"] = ["first": 1]
      // While it is saved, the draft is written again.
      overtaking.record { draft["a"] = ["second": 1] }
      try draft.save()
      try #require(draft.writtenKeys == ["a"] && draft.conflicts == [])
      cache["a"] = ["theirs": 1]
      try #require(draft.conflicts == ["a"])
      draft.discard()
      try #require(subject.findings == [])
    }
  }

  @Test func `a draft watches what its drafts have seen for as long as these do`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: .memory, on: executor)
      let outer = subject.cache.draft()
      do {
        let inner = outer.draft()
        _ = inner["a"]
        outer["b"] = ["v": 1]
        try outer.save()
        try #require(!subject.cache.watchFindings.isEmpty)
        _ = inner
      }
      try #require(subject.cache.watchFindings.isEmpty)
      subject.cache["a"] = ["theirs": 1]
      outer["a"] = ["mine": 1]
      try #require(outer.conflicts == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `nested drafts that count up at once, and try again on conflict, lose no count`(
    kind: FieldsSubject.Kind
  ) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try FieldsSubject(plain: kind, on: executor)
      let cache = subject.cache
      let tasks = (0..<3).map { number in
        subject.task {
          let outer = cache.draft()
          let inner = outer.draft()
          for step in 0..<2 {
            while true {
              inner["count"] = ["v": (inner["count"]?["v"] ?? 0) + 1]
              await Task.yield()
              // Something else is saved or discarded between.
              outer["other \(number)"] = ["v": step]
              if step == 0 { try outer.save() } else { outer.discard() }
              await Task.yield()
              do {
                try inner.save()
                await Task.yield()
                try outer.save()
                break
              } catch let error as CisternError {
                try #require(error.code == .conflict)
                inner.discard()
                outer.discard()
              }
            }
          }
        }
      }
      for task in tasks { try await task.value }
      try #require(subject.valuesFromBothTiers("count") == [["v": 6], ["v": 6]])
      try #require(subject.findings == [])
    }
  }
}
