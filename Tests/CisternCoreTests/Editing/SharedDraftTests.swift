import CisternTesting
import Testing

@testable import CisternCore

/// Drafts that several callers use at the same time.
struct SharedDraftTests {
  @Test(arguments: [false, true])
  func `a first use of a key beside a save of the draft is no conflict with that save`(isNested: Bool) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let meanwhile = Recorder<@Sendable () -> Void>()
      var configuration = CacheConfiguration<Fields>()
      configuration.tagsOfValue = { _ in
        meanwhile.removeAll().forEach { $0() }
        return []
      }
      let subject = try FieldsSubject(.memory, on: executor, configuration: configuration)
      let cache = subject.cache
      cache.setValue(["v": 1], forKey: "a", tags: ["t"])
      let outer = cache.draft()
      let draft = isNested ? outer.draft() : outer
      // The first use reads the tags below after it began to watch the key.
      meanwhile.record {
        draft["a"] = ["first": 1]
        #expect(throws: Never.self) { try draft.save() }
      }
      draft["a"] = ["second": 1]
      try #require(meanwhile.count == 0)
      try draft.save()
      if isNested { try outer.save() }
      try #require(cache["a"] == ["second": 1])
      try #require(subject.findings == [])
    }
  }
}
