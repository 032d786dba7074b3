import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Writes that depend on a key, while another key with its hash is written.
struct EqualHashWritesTests {
  private static let (one, other) = (EqualHashKey("one"), EqualHashKey("other"))

  /// A limit on the attempts of a writer, so that one without end fails the test, and does not hang it.
  private static let attemptLimit = 5

  @Test(arguments: SubjectKind.caches)
  func `a writer whose closure writes a key with its hash ends after one attempt`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try EqualHashSubject(kind, on: executor)
      let cache = subject.cache
      cache[Self.one] = 1
      let attempts = Recorder<Void>()
      @Sendable func attempt() {
        attempts.record(())
        guard attempts.count < Self.attemptLimit else { return }
        cache[Self.other] = attempts.count
        cache.updateValue(forKey: Self.other) { $0 = ($0 ?? 0) + 10 }
        cache[Self.other] = nil
      }
      Self.updateAtOnce(cache) {
        attempt()
        $0 = ($0 ?? 0) + 1
      }
      try #require(attempts.removeAll().count == 1)
      try await cache.updateValue(forKey: Self.one) { value async in
        attempt()
        await Task.yield()
        value = (value ?? 0) + 1
      }
      try #require(attempts.removeAll().count == 1)
      try #require(cache[Self.one] == 3 && cache[Self.other] == nil)
      try #require(subject.findings == [])
    }
  }

  private static func updateAtOnce(_ cache: Cache<EqualHashKey, Int>, _ change: (inout Int?) -> Void) {
    cache.updateValue(forKey: one, change)
  }

  @Test(arguments: SubjectKind.caches)
  func `an invalidation of a key that was read does not repeat the update of a key with its hash`(
    kind: SubjectKind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try EqualHashSubject(kind, on: executor)
      let cache = subject.cache
      cache.setValue(1, forKey: Self.one, tags: ["one"])
      cache.setValue(2, forKey: Self.other, tags: ["other"])
      let attempts = Recorder<Void>()
      Self.updateAtOnce(cache) {
        attempts.record(())
        let draft = cache.draft()
        if attempts.count < Self.attemptLimit, draft[Self.other] != nil { cache.removeAll(tagged: "other") }
        $0 = 3
      }
      try #require(attempts.count == 1)
      try #require(cache[Self.one] == 3 && cache[Self.other] == nil)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, [false, true])
  func `a write of a key is no conflict for a draft of a key with its hash`(kind: SubjectKind, isRemoval: Bool) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try EqualHashSubject(kind, on: executor)
      let cache = subject.cache
      (cache[Self.one], cache[Self.other]) = (1, 2)
      let draft = cache.draft()
      draft[Self.one] = (draft[Self.one] ?? 0) + 10
      cache[Self.other] = isRemoval ? nil : 3
      try #require(draft.conflicts == [])
      try draft.save()
      try #require(cache[Self.one] == 11 && cache[Self.other] == (isRemoval ? nil : 3))
      draft[Self.one] = 12
      cache[Self.one] = 4
      try #require(draft.conflicts == [Self.one])
      draft.discard()
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a fetched value is merged under a set, although a key with its hash is removed`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 20) { executor in
      let subject = try EqualHashSubject(kind, on: executor, configuration: CacheConfiguration(merge: { $0 | $1 }))
      let (cache, gate) = (subject.cache, Gate())
      cache[Self.other] = 8
      let load = Task(executorPreference: executor) {
        try await cache.value(forKey: Self.one) { _ in
          try await gate.pass()
          return 2
        }
      }
      await gate.arrivals(atLeast: 1)
      cache[Self.one] = 1
      cache[Self.other] = nil
      gate.open()
      try #require(try await load.value == 3)
      try #require(cache[Self.one] == 3 && cache[Self.other] == nil)
      try #require(subject.findings == [])
    }
  }
}
