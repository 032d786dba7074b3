import CisternCore
import CisternTesting
import Testing

/// The tags of a value that derives from a tagged one.
struct KeptTagsTests {
  /// The ways to derive a value from the cached one, with or without explicit tags.
  enum Change: CaseIterable, Sendable {
    case update, asyncUpdate, edit, answeredEdit, draft, draftOfDraft, set, batch, load, draftTwice

    /// Whether the change keeps the cached value's fields only in a cache that merges.
    var needsMerge: Bool { self == .set || self == .batch || self == .load }

    func apply(to cache: Cache<String, Fields>, tags: [String]? = nil) async throws {
      let more: Fields = ["more": 1]
      switch self {
      case .update:
        Self.update(cache, tags)
      case .asyncUpdate:
        try await cache.updateValue(forKey: "k", tags: tags) { value in
          await Task.yield()
          value?["more"] = 1
        }
      case .edit, .answeredEdit:
        let answer: Fields? = self == .edit ? nil : ["base": 1, "more": 1]
        try await cache.editValue(forKey: "k", options: UpdateOptions(tags: tags)) {
          $0?.merging(more) { $1 }
        } confirmedBy: {
          answer
        }
      case .draft:
        let draft = cache.draft()
        draft.setValue((draft["k"] ?? [:]).merging(more) { $1 }, forKey: "k", tags: tags)
        try draft.save()
      case .draftOfDraft:
        let outer = cache.draft()
        let inner = outer.draft()
        inner.setValue((inner["k"] ?? [:]).merging(more) { $1 }, forKey: "k", tags: tags)
        try inner.save()
        outer["k"]?["later"] = 1
        try outer.save()
      case .draftTwice:
        let draft = cache.draft()
        draft.setValue((draft["k"] ?? [:]).merging(more) { $1 }, forKey: "k", tags: tags)
        draft["k"]?["later"] = 1
        try draft.save()
      case .set:
        cache.setValue(more, forKey: "k", tags: tags)
      case .batch:
        try cache.batch { batch in
          batch.setValue(["first": 1], forKey: "k", tags: tags)
          batch.setValue(more, forKey: "k")
        }
      case .load:
        try await cache.refreshValue(forKey: "k", tags: tags ?? []) { _ in more }
      }
    }

    private static func update(_ cache: Cache<String, Fields>, _ tags: [String]?) {
      cache.updateValue(forKey: "k", tags: tags) { $0?["more"] = 1 }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, Change.allCases)
  func `a value derived from a tagged one is removed by its tag, unless the write specifies tags`(
    kind: FieldsSubject.Kind, change: Change
  ) throws {
    for merges in change.needsMerge ? [true] : [true, false] {
      for tags in [nil, ["new"]] as [[String]?] {
        try SeededExecutor.run(seed: 0) { executor in
          let subject = try FieldsSubject(
            kind, on: executor, configuration: merges ? CacheConfiguration(merge: mergeFields) : CacheConfiguration())
          let cache = subject.cache
          cache.setValue(["base": 1], forKey: "k", tags: ["old"])
          if kind != .memory { cache.trim(toCost: 0) }
          try await change.apply(to: cache, tags: tags)
          try #require(subject.valuesFromBothTiers("k").allSatisfy { $0?["base"] == 1 && $0?["more"] == 1 })
          cache.removeAll(tagged: tags == nil ? "new" : "old")
          try #require(subject.valuesFromBothTiers("k").allSatisfy { $0?["more"] == 1 })
          cache.removeAll(tagged: tags == nil ? "old" : "new")
          try #require(subject.valuesFromBothTiers("k") == [nil, nil])
          try #require(subject.findings == [])
        }
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a value that replaces a tagged one has only the tags of its own write`(kind: FieldsSubject.Kind) throws {
    for configuration in [CacheConfiguration<Fields>(), CacheConfiguration<Fields>(isEqual: ==)] {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try FieldsSubject(kind, on: executor, configuration: configuration)
        let cache = subject.cache
        let writes: [@Sendable () throws -> Void] = [
          { cache["k"] = ["new": 1] },
          { try cache.batch { $0.setValue(["new": 1], forKey: "k") } },
          {
            try cache.batch { batch in
              batch.setValue(["first": 1], forKey: "k", tags: ["tag"])
              batch.setValue(["new": 1], forKey: "k")
            }
          },
          {
            let draft = cache.draft()
            draft["k"] = nil
            draft["k"] = ["new": 1]
            try draft.save()
          },
          { cache.updateValue(forKey: "k", tags: []) { $0 = ["new": 1] } },
        ]
        for write in writes {
          cache.setValue(["base": 1], forKey: "k", tags: ["tag"])
          try write()
          cache.removeAll(tagged: "tag")
          try #require(subject.valuesFromBothTiers("k") == [["new": 1], ["new": 1]])
        }
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `tags computed from a value change with the value, and explicit tags stay`(
    kind: FieldsSubject.Kind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      var configuration = CacheConfiguration<Fields>()
      configuration.tagsOfValue = { $0.keys.sorted() }
      let subject = try FieldsSubject(kind, on: executor, configuration: configuration)
      let cache = subject.cache
      cache.setValue(["a": 1, "both": 1], forKey: "k", tags: ["named", "both"])
      cache.updateValue(forKey: "k") { $0 = ["b": 1] }
      cache.removeAll(tagged: "a")
      try #require(subject.valuesFromBothTiers("k") == [["b": 1], ["b": 1]])
      for tag in ["named", "both", "b"] {
        cache.setValue(["a": 1, "both": 1], forKey: "k", tags: ["named", "both"])
        cache.updateValue(forKey: "k") { $0 = ["b": 1] }
        cache.removeAll(tagged: tag)
        try #require(cache["k"] == nil)
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `tags set during an update are kept, even if the value is equal`(
    kind: FieldsSubject.Kind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(
        kind, on: executor, configuration: CacheConfiguration(merge: mergeFields, isEqual: ==))
      let cache = subject.cache
      cache.setValue(["base": 1], forKey: "k", tags: ["old"])
      let gate = Gate()
      let update = subject.task {
        try await cache.updateValue(forKey: "k") { value in
          try await gate.pass()
          value?["more"] = 1
        }
      }
      await gate.arrivals(atLeast: 1)
      cache.setValue(["base": 1], forKey: "k", tags: ["new"])
      gate.open()
      try await update.value
      try #require(cache["k"] == ["base": 1, "more": 1])
      cache.removeAll(tagged: "new")
      try #require(cache["k"] == nil)
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a draft of an expired value keeps the value's tags`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: kind, on: executor)
      let cache = subject.cache
      cache.setValue(["base": 1], forKey: "k", expiry: .after(.seconds(10)), tags: ["tag"])
      let draft = cache.draft()
      draft["k"]?["more"] = 1
      subject.clock.advance(by: .seconds(11))
      try #require(cache["k"] == nil)
      try draft.save()
      try #require(cache["k"] == ["base": 1, "more": 1])
      cache.removeAll(tagged: "tag")
      try #require(subject.valuesFromBothTiers("k") == [nil, nil])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a load merged with a concurrent tagged set has the tags of the set`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let cache = subject.cache
      let gate = Gate()
      let load = subject.task {
        try await cache.value(forKey: "k", tags: ["load"]) { _ in
          try await gate.pass()
          return ["loaded": 1]
        }
      }
      await gate.arrivals(atLeast: 1)
      cache.setValue(["set": 1], forKey: "k", tags: ["set"])
      gate.open()
      try #require(try await load.value == ["loaded": 1, "set": 1])
      cache.removeAll(tagged: "set")
      try #require(subject.valuesFromBothTiers("k") == [nil, nil])
    }
  }
}
