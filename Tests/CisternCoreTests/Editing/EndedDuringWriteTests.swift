import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// Equal values of a key whose value ends while the writer works.
struct EndedDuringWriteTests {
  @Test(arguments: FieldsSubject.Kind.allCases)
  func `an equal merged value of a key that has expired is a change`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let duringMerge = Recorder<@Sendable () -> Void>()
      var configuration = CacheConfiguration<Fields>(merge: { cached, incoming in
        duringMerge.removeAll().forEach { $0() }
        return cached.merging(incoming) { $1 }
      })
      configuration.isEqual = { $0 == $1 }
      let subject = try FieldsSubject(kind, on: executor, expiry: .after(.seconds(10)), configuration: configuration)
      let (cache, clock) = (subject.cache, subject.clock)
      cache["k"] = ["a": 1]
      let draft = cache.draft()
      duringMerge.record {
        clock.advance(by: .seconds(11))
        _ = cache["k"]
        draft["k"] = nil
      }
      cache["k"] = ["a": 1]
      try #require(draft.conflicts == ["k"])
      draft.discard()
      try #require(cache["k"] == ["a": 1] && subject.findings == [])
    }
  }

  @Test func `an edit that shows an equal value of a key that was evicted is announced`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      var settings: Store.Configuration = .ignoringMemoryPressure
      settings.taskExecutor = executor
      let store = try Store(secondTier: nil, memoryLimit: .mebibytes(1), configuration: settings)
      var configuration = CacheConfiguration<Fields>(countLimit: 1)
      configuration.isEqual = { $0 == $1 }
      let cache = try store.cache(
        "fields", of: Fields.self, keyedBy: String.self, configuration: configuration)
      cache["k"] = ["base": 1]
      let audit = FieldsAudit(base: ["k": ["base": 1]])
      let token = cache.observe { audit.take($0) }
      try await cache.editValue(forKey: "k") { value in
        if cache["k"] != nil { cache["other"] = ["v": 1] }
        return value
      } confirmedBy: {
        nil
      }
      for _ in 0..<50 { await Task.yield() }
      try #require(audit.findings == [])
      try #require(audit.values["k"] == cache["k"])
      token.cancel()
    }
  }

  @Test func `observers of a tag learn of the end of an edited value that memory has evicted`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(.memory, on: executor)
      let cache = subject.cache
      cache.setValue(["base": 1], forKey: "k", tags: ["tag"])
      let (edit, gate) = await subject.beginEdit("edited", fails: true)
      let removals = Recorder<String>()
      @Sendable func record(_ change: Change<String, Fields>, by observer: String) {
        if case .removed(let key, _) = change.event { removals.record("\(observer) \(key)") }
      }
      let tokenOfAll = cache.observe { record($0, by: "all") }
      let tokenOfTag = cache.observe(.tagged("tag")) { record($0, by: "tag") }
      let tokenOfOther = cache.observe(.tagged("other")) { record($0, by: "other") }
      subject.store.trimMemory(to: .bytes(0))
      cache["k"] = nil
      for _ in 0..<50 { await Task.yield() }
      try #require(removals.elements.sorted() == ["all k", "tag k"])
      tokenOfAll.cancel()
      tokenOfTag.cancel()
      tokenOfOther.cancel()
      gate.open()
      _ = await edit.result
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, [false, true])
  func `a removal in a batch counts a value on disk, with and without observers`(
    kind: FieldsSubject.Kind, isObserved: Bool
  ) throws {
    if kind == .memory { return }
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let token = isObserved ? subject.cache.observe { _ in } : nil
      subject.cache["k"] = ["v": 1]
      subject.cache.trim(toCost: 0)
      try subject.cache.batch { $0.removeValue(forKey: "k") }
      try #require(subject.cache.statistics.removals == 1 && subject.findings == [])
      token?.cancel()
    }
  }
}
