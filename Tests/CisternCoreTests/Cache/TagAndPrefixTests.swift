import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Invalidations by tag and by prefix. No read returns an invalidated value, at any instant of the invalidation.
struct TagAndPrefixTests {
  @Test(arguments: SubjectKind.caches, InvalidationWay.allCases)
  func `a tag or prefix removes its values from both tiers immediately, and keeps all others`(
    kind: SubjectKind, way: InvalidationWay
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, settings: .taggingOdd)
      let cache = subject.cache
      for isEvicted in [false, true] where !isEvicted || kind != .memory {
        for number in 0..<20 {
          cache.setValue(1, forKey: "a/\(number)", tags: ["news", "more"])
          cache.setValue(2, forKey: "b/\(number)", tags: ["more"])
        }
        if isEvicted { cache.trim(toCost: 0) }
        way.apply(to: cache)
        for number in 0..<20 {
          try #require(cache["a/\(number)"] == nil)
          try #require(!cache.contains("a/\(number)"))
          try #require(cache["b/\(number)"] == 2)
        }
        // Values that are stored from now on are valid.
        cache.setValue(3, forKey: "a/1", tags: ["news"])
        cache.setValue(5, forKey: "a/2")
        try #require(cache["a/1"] == 3 && cache["a/2"] == 5)
        if kind != .memory { cache.trim(toCost: 0) }
        try #require(cache["a/1"] == 3 && cache["a/2"] == 5)
      }
      try #require(try await subject.value("a/7") { _ in 9 } == 9)
      for _ in 0..<100 { await Task.yield() }
      try #require(cache["a/7"] == 9)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `updates, confirmed edits, bulk loads, batches and drafts can set tags`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      let tags = ["news"]
      cache.updateValue(forKey: "a", tags: tags) { $0 = 1 }
      try await cache.updateValue(forKey: "b", tags: tags) { value async in value = 1 }
      _ = try await cache.updateValueInBackground(forKey: "c", tags: tags) { $0 = 1 }.value
      try await cache.editValue(forKey: "d", options: UpdateOptions(tags: tags)) { _ in
        1
      } confirmedBy: {
        2
      }
      try await cache.editValue(forKey: "e", options: UpdateOptions(tags: tags)) { _ in
        1
      } confirmedBy: {
        nil
      }
      _ = try await cache.values(forKeys: ["f", "g"], tags: tags) {
        Dictionary(uniqueKeysWithValues: $0.map { ($0, 1) })
      }
      try cache.batch { $0.setValue(1, forKey: "h", tags: tags) }
      let draft = cache.draft()
      draft.setValue(1, forKey: "i", tags: tags)
      try draft.save()
      // The tags of an update replace the old ones.
      cache.setValue(1, forKey: "kept", tags: tags)
      cache.updateValue(forKey: "kept", tags: ["other"]) { $0 = 2 }
      if kind != .memory { cache.trim(toCost: 0) }
      for key in "abcdefghi" { try #require(cache[String(key)] != nil) }
      cache.removeAll(tagged: "news")
      for key in "abcdefghi" { try #require(cache[String(key)] == nil) }
      try #require(cache["kept"] == 2)
    }
  }

  @Test(arguments: SubjectKind.tiered, [InvalidationWay.tag, .prefix])
  func `a committed invalidation survives a restart, and so do values that were stored after it`(
    kind: SubjectKind, way: InvalidationWay
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor)
      subject.cache.setValue(1, forKey: "a/1", tags: ["news"])
      subject.cache.setValue(1, forKey: "b/1")
      try await subject.tier?.flush()
      way.apply(to: subject.cache)
      subject.cache.setValue(2, forKey: "a/2", tags: ["news"])
      try await subject.tier?.flush()
      let reopened = try subject.reopened(after: true)
      try #require(reopened.cache["a/1"] == nil)
      try #require(reopened.cache["a/2"] == 2)
      try #require(reopened.cache["b/1"] == 1)
      // Invalidations of the new process are newer than all earlier ones.
      way.apply(to: reopened.cache)
      try #require(reopened.cache["a/2"] == nil)
      try #require(reopened.cache["b/1"] == 1)
      try #require(reopened.findings == [])
    }
  }

  @Test func `a sweep removes the invalidated values, and then the invalidation`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.memory, on: executor)
      let cache = subject.cache
      for number in 0..<500 { cache.setValue(number, forKey: "\(number)", tags: ["t\(number % 5)"]) }
      for round in 0..<5 {
        cache.removeAll(tagged: "t\(round)")
        for _ in 0..<400 { await Task.yield() }
        try #require(cache.statistics.memory.entryCount == 400 - round * 100)
      }
      try #require(cache.pendingInvalidationCount == 0)
      try #require(cache.statistics.invalidations == 500)
      cache.removeAll(tagged: "")
      cache.setValue(1, forKey: "a", tags: ["", "x"])
      cache.removeAll(tagged: "")
      try #require(cache["a"] == 1)
      try #require(subject.findings == [])
    }
  }
}
