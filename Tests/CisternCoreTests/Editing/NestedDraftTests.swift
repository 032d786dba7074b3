import CisternTesting
import Testing

@testable import CisternCore

/// Nested drafts whose parent draft is saved or discarded while they are in use.
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
  func `a nested draft still detects conflicts after its parent saves or discards other keys`(
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
  func `the parent's own save is no conflict for a nested draft, but another writer's change is`(
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
            // The outer draft reads the key again. The inner draft still has the version of its own read.
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

  @Test func `a key written during a save is compared with the value that the save stored`() throws {
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
      // The draft is written again during its save.
      overtaking.record { draft["a"] = ["second": 1] }
      try draft.save()
      try #require(draft.writtenKeys == ["a"] && draft.conflicts == [])
      cache["a"] = ["theirs": 1]
      try #require(draft.conflicts == ["a"])
      draft.discard()
      try #require(subject.findings == [])
    }
  }

  @Test func `a draft watches the keys of its nested drafts as long as these drafts do`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: .memory, on: executor)
      let outer = subject.cache.draft()
      do {
        let inner = outer.draft()
        _ = inner["a"]
        outer["b"] = ["v": 1]
        try outer.save()
        try #require(!subject.cache.watchFindings.isEmpty)
        withExtendedLifetime(inner) {}
      }
      try #require(subject.cache.watchFindings.isEmpty)
      subject.cache["a"] = ["theirs": 1]
      outer["a"] = ["mine": 1]
      try #require(outer.conflicts == [])
    }
  }

  @Test(arguments: Ending.allCases, Ending.allCases)
  func `a draft that is used again keeps nothing of the keys of its earlier uses`(inner: Ending, outer: Ending) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: .memory, on: executor)
      let outermost = subject.cache.draft()
      let nested = outermost.draft()
      for number in 0..<20 {
        _ = nested["read \(number)"]
        nested["\(number)"] = ["v": number]
        outermost["other \(number)"] = ["v": number]
        try inner.apply(to: nested)
        try outer.apply(to: outermost)
      }
      _ = nested["last"]
      nested.discard()
      for draft in [nested, outermost] { try #require(draft.state.withLock { $0.countedKeyCount } == 0) }
      try #require(subject.findings == [])
    }
  }

  @Test func `a draft shows no value that was merged before a save`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let overtaking = Recorder<@Sendable () -> Void>()
      let configuration = CacheConfiguration<Fields>(merge: { cached, incoming in
        overtaking.removeAll().forEach { $0() }
        return try mergeFields(cached, incoming)
      })
      let subject = try FieldsSubject(.memory, on: executor, configuration: configuration)
      let draft = subject.cache.draft()
      draft["a"] = ["first": 1]
      overtaking.record {
        try? draft.save()
        draft["a"] = ["second": 1]
      }
      draft["a"] = ["third": 1]
      try #require(draft["a"] == ["second": 1, "third": 1])
      try draft.save()
      try #require(subject.cache["a"] == ["first": 1, "second": 1, "third": 1])
      try #require(subject.findings == [])
    }
  }

  @Test func `a draft that forgets a key causes no conflict for a nested draft of another key`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: .memory, on: executor)
      let outer = subject.cache.draft()
      let inner = outer.draft()
      inner["a"] = ["inner": 1]
      for step in 0..<3 {
        outer["b"] = ["v": step]
        try outer.save()
      }
      try #require(inner.conflicts == [])
      try inner.save()
      try outer.save()
      try #require(subject.cache["a"] == ["inner": 1] && subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `concurrent nested drafts that increment a count and retry on conflict lose no increment`(
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
              // The outer draft saves or discards another key in between.
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

  @Test func `a draft that only reads watches no key after its save, and has no conflict then`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(.memory, on: executor, configuration: CacheConfiguration())
      let cache = subject.cache
      let outer = cache.draft()
      let nested = outer.draft()
      for draft in [outer, nested] {
        _ = draft["a"]
        try #require(!cache.watchFindings.isEmpty)
        try draft.save()
        try #require(cache.watchFindings.isEmpty)
      }
      _ = nested["a"]
      try await nested.commit()
      try #require(cache.watchFindings.isEmpty)
      cache["a"] = ["theirs": 1]
      outer["a"] = ["mine": 1]
      try #require(outer.conflicts == [])
      outer.discard()
      try #require(subject.findings == [])
    }
  }
}
