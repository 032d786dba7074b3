import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Unconfirmed edits of keys that have one hash.
struct EqualHashTests {
  private static let (one, other) = (EqualHashKey("one"), EqualHashKey("other"))

  /// The end of the edits of a key.
  enum End: CaseIterable, Sendable { case confirmation, failure, removal, removalByTag, batch }

  @Test(arguments: SubjectKind.caches, End.allCases)
  func `a set of an edited key lasts, although the edits of another key with its hash end`(
    kind: SubjectKind, end: End
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try EqualHashSubject(kind, on: executor)
      let cache = subject.cache
      cache.setValue(1, forKey: Self.one, tags: ["tag"])
      cache[Self.other] = 2
      let first = await subject.beginEdit(Self.one, fails: end == .failure)
      let second = await subject.beginEdit(Self.other)
      switch end {
      case .confirmation, .failure:
        first.gate.open()
        _ = await first.edit.result
      case .removal: cache[Self.one] = nil
      case .removalByTag: cache.removeAll(tagged: "tag")
      case .batch: try cache.batch { $0.removeValue(forKey: Self.one) }
      }
      cache[Self.other] = 3
      try #require(cache[Self.other] == 103)
      first.gate.open()
      second.gate.open()
      try #require(try await second.edit.value == 103)
      _ = await first.edit.result
      try #require(cache[Self.other] == 103)
      switch end {
      case .confirmation: try #require(cache[Self.one] == 101)
      case .failure: try #require(cache[Self.one] == 1)
      case .removal, .removalByTag, .batch: try #require(cache[Self.one] == nil)
      }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a removal of a key without edits leaves those of a key with its hash`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try EqualHashSubject(kind, on: executor)
      let cache = subject.cache
      (cache[Self.one], cache[Self.other]) = (1, 2)
      let (edit, gate) = await subject.beginEdit(Self.other)
      cache[Self.one] = nil
      cache[Self.other] = 3
      try #require(cache[Self.other] == 103)
      gate.open()
      try #require(try await edit.value == 103)
      try #require(cache[Self.one] == nil && cache[Self.other] == 103)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered, [LoadPolicy.cachedOrFetch, .freshOnly, .freshElseStale])
  func `a load of a stale record looks once during the edit of a key with its hash`(
    kind: SubjectKind, policy: LoadPolicy
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try EqualHashSubject(kind, on: executor, expiry: .after(.seconds(10), graceStale: .seconds(100)))
      let (cache, reads) = (subject.cache, Recorder<Void>())
      cache[Self.other] = 2
      subject.clock.advance(by: .seconds(11))
      cache.trim(toCost: 0)
      let (edit, gate) = await subject.beginEdit(Self.one)
      subject.tier?.setAfterLoad { _ in
        reads.record(())
        // A load that looks without end must fail the test, and not hang it.
        if reads.count == 1000 { cache[Self.one] = nil }
      }
      let loaded = try await cache.value(forKey: Self.other, policy: policy) { _ in 3 }
      try #require(loaded == (policy == .cachedOrFetch ? 2 : 3))
      while cache.statistics.inProgressCount > 0 { await Task.yield() }
      try #require(reads.count < 10)
      subject.tier?.setAfterLoad(nil)
      try #require(cache[Self.other] == 3)
      gate.open()
      try #require(try await edit.value == 100)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `a record is promoted during the edit of a key with its hash`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try EqualHashSubject(kind, on: executor)
      let cache = subject.cache
      cache[Self.other] = 2
      cache.trim(toCost: 0)
      let (edit, gate) = await subject.beginEdit(Self.one)
      for source in [Loaded<Int>.Source.secondTier, .memory] {
        let loaded = cache.find(Self.other)
        try #require(loaded?.value == 2 && loaded?.source == source)
      }
      gate.open()
      _ = try await edit.value
      try #require(subject.findings == [])
    }
  }
}
