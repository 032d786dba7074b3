import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// Tags that one entry gets several times.
struct RepeatedTagsTests {
  /// The writes that name tags.
  enum Write: CaseIterable, Sendable {
    case set, update, batch, draft, edit, load, context, kept, bulk

    func apply(to cache: Cache<String, Int>, tags: [String]) async throws {
      switch self {
      case .set: cache.setValue(1, forKey: "a", tags: tags)
      case .update: cache.updateValue(forKey: "a", tags: tags) { $0 = 1 }
      case .batch: try cache.batch { $0.setValue(1, forKey: "a", tags: tags) }
      case .draft:
        let draft = cache.draft()
        draft.setValue(1, forKey: "a", tags: tags)
        try draft.save()
      case .edit:
        try await cache.editValue(forKey: "a", options: UpdateOptions(tags: tags), { _ in 1 }, confirmedBy: { nil })
      case .load: _ = try await cache.value(forKey: "a", tags: tags) { _ in 1 }
      case .context: _ = try await cache.load("a") { _ in .store(1, tags: tags) }
      case .kept:
        cache["a"] = 1
        _ = try await cache.load("a", policy: .reload) { _ in .keepStored(tags: tags) }
      case .bulk: _ = try await cache.values(forKeys: ["a"], tags: tags) { _ in ["a": 1] }
      }
    }
  }

  @Test(arguments: SubjectKind.caches, Write.allCases)
  func `a tag that is given several times is one tag in both tiers`(kind: SubjectKind, write: Write) throws {
    try SeededExecutor.run(seed: 1) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      let staged = Recorder<[String]>()
      subject.tier?.refuseRecords { write in
        if case .record(_, let metadata, _) = write { staged.record(metadata.tags) }
        return false
      }
      try await write.apply(to: cache, tags: ["a", "b", "a", "", "b", "a"])
      if kind != .memory { try #require(staged.elements.last == ["a", "b"]) }
      for _ in 0..<2 {
        try #require(cache.find("a")?.tags == ["a", "b"])
        try #require(try await tags(cache, "a") == [["a", "b"]])
        if kind != .memory { cache.trim(toCost: 0) }
      }
      cache.removeAll(tagged: "a")
      try #require(subject.valuesFromBothTiers("a") == [nil, nil])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a tag that is named and computed from the value is one tag for readers, and stays named`(
    kind: SubjectKind
  ) throws {
    try SeededExecutor.run(seed: 1) { executor in
      var settings = CacheConfiguration<Int>()
      settings.tagsOfValue = { $0 == 1 ? ["own", "own", "both"] : [] }
      let subject = try Subject(kind, on: executor, settings: settings)
      let cache = subject.cache
      cache.setValue(1, forKey: "a", tags: ["both", "named", "both"])
      for _ in 0..<2 {
        try #require(cache.find("a")?.tags == ["both", "named", "own"])
        try #require(try await tags(cache, "both") == [["both", "named", "own"]])
        if kind != .memory { cache.trim(toCost: 0) }
      }
      let loaded = try await cache.load("a", policy: .reload) { context in
        try #require(context.stored?.tags == ["both", "named", "own"])
        return .keepStored()
      }
      try #require(loaded?.tags == ["both", "named", "own"])
      cache.updateValue(forKey: "a") { $0 = 2 }
      try #require(cache.find("a")?.tags == ["both", "named"])
      try #require(subject.findings == [])
    }
  }

  /// Returns the tags of each entry with a tag, as an enumeration finds them.
  private func tags(_ cache: Cache<String, Int>, _ tag: String) async throws -> [[String]] {
    var tags: [[String]] = []
    for try await entry in cache.entries(.tagged(tag)) { tags.append(entry.tags) }
    return tags
  }
}
