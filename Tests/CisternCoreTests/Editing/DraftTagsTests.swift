import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// The tags of a draft's value if the value below is gone, or another one, at the save.
struct DraftTagsTests {
  /// The event that ends the value below a draft.
  enum End: CaseIterable, Sendable {
    case removal, tag, prefix, clear, expiry

    func apply(to subject: FieldsSubject) {
      switch self {
      case .removal: subject.cache["k"] = nil
      case .tag: subject.cache.removeAll(tagged: "a")
      case .prefix: subject.cache.removeAll(withPrefix: "k")
      case .clear: subject.cache.removeAll()
      case .expiry: subject.clock.advance(by: .seconds(200))
      }
    }
  }

  /// The drafts that lie between a value and its cache.
  enum Form: CaseIterable, Sendable { case draft, nested, overCaches }

  static let expiry = Expiry.after(.seconds(10), graceStale: .seconds(100))
  static let policies: [DraftConflictPolicy<String, Fields>] = [.mine, .merge { $0.mine }]

  /// Returns a draft, and the save of all its layers.
  static func draft(
    _ form: Form, of cache: Cache<String, Fields>
  ) -> (Draft<String, Fields>, (DraftConflictPolicy<String, Fields>) throws -> Void) {
    let outer = cache.draft()
    if form == .draft { return (outer, { try outer.save(onConflict: $0) }) }
    let inner = outer.draft()
    return (
      inner,
      {
        try inner.save(onConflict: $0)
        try outer.save(onConflict: $0)
      }
    )
  }

  @Test(arguments: FieldsSubject.Kind.allCases, End.allCases)
  func `a draft keeps the tags of its first use if the value is gone at the save`(
    kind: FieldsSubject.Kind, end: End
  ) throws {
    for form in [Form.draft, .nested] {
      for isStale in [false, true] {
        for isCompared in [false, true] {
          for reads in [false, true] {
            for policy in Self.policies {
              try SeededExecutor.run(seed: 0) { executor in
                var configuration = CacheConfiguration<Fields>()
                if isCompared { configuration.isEqual = { $0 == $1 } }
                let subject = try FieldsSubject(kind, on: executor, configuration: configuration)
                let cache = subject.cache
                cache.setValue(["base": 1], forKey: "k", expiry: Self.expiry, tags: ["a", "b"])
                if isStale { subject.clock.advance(by: .seconds(20)) }
                if kind != .memory { cache.trim(toCost: 0) }
                let (draft, save) = Self.draft(form, of: cache)
                if reads { _ = draft["k"] }
                draft["k"] = ["new": 1]
                end.apply(to: subject)
                try save(policy)
                let found = try #require(cache.find("k"))
                try #require(found.value == ["new": 1])
                try #require(found.tags.sorted() == ["a", "b"], "\(form) \(isStale) \(isCompared) \(reads)")
                cache.removeAll(tagged: "b")
                try #require(subject.valuesFromBothTiers("k") == [nil, nil])
              }
            }
          }
        }
      }
    }
  }

  @Test(arguments: [false, true], [Form.draft, .nested])
  func `after a conflicting set, a draft's value has the tags of that set`(isCompared: Bool, form: Form) throws {
    for policy in Self.policies {
      try SeededExecutor.run(seed: 0) { executor in
        var configuration = CacheConfiguration<Fields>()
        if isCompared { configuration.isEqual = { $0 == $1 } }
        let cache = try FieldsSubject(.memory, on: executor, configuration: configuration).cache
        cache.setValue(["base": 1], forKey: "k", tags: ["a"])
        let (draft, save) = Self.draft(form, of: cache)
        draft["k"] = ["new": 1]
        cache.setValue(["other": 1], forKey: "k", tags: ["z"])
        try save(policy)
        try #require(cache.find("k")?.tags == ["z"])
      }
    }
  }

  @Test func `a draft over several caches keeps the tags of a value that is gone at the save`() throws {
    try TwoCaches.run(nil) { caches, fields, _ in
      for isNested in [false, true] {
        fields.setValue(["base": 1], forKey: "k", tags: ["a"])
        let outer = caches.store.draft()
        let draft = isNested ? outer.draft() : outer
        draft["k", in: fields] = ["new": 1]
        fields["k"] = nil
        try draft.save(onConflict: .mine)
        if isNested { try outer.save(onConflict: .mine) }
        try #require(fields.find("k")?.tags == ["a"])
      }
    }
  }

  @Test(arguments: [false, true])
  func `a nested draft keeps the tags of a value that the draft below removed since`(isCompared: Bool) throws {
    try SeededExecutor.run(seed: 0) { executor in
      var configuration = CacheConfiguration<Fields>()
      if isCompared { configuration.isEqual = { $0 == $1 } }
      let cache = try FieldsSubject(.memory, on: executor, configuration: configuration).cache
      cache.setValue(["base": 1], forKey: "k", tags: ["a"])
      let outer = cache.draft()
      let inner = outer.draft()
      inner["k"] = ["new": 1]
      outer["k"] = nil
      try inner.save(onConflict: .mine)
      try outer.save()
      try #require(cache.find("k")?.tags == ["a"])
      // A value that the same draft removed before leaves no tags.
      let other = outer.draft()
      outer["k"] = nil
      other["k"] = ["other": 1]
      try other.save()
      try outer.save()
      try #require(cache.find("k")?.tags == [])
    }
  }

  @Test func `after a save, a draft keeps the tags of the saved value`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let cache = try FieldsSubject(plain: .memory, on: executor).cache
      cache.setValue(["base": 1], forKey: "k", tags: ["a"])
      let outer = cache.draft()
      let middle = outer.draft()
      let inner = middle.draft()
      // The draft below keeps the base of the key while this one uses it.
      _ = inner["k"]
      middle.setValue(["saved": 1], forKey: "k", tags: ["m"])
      try middle.save()
      outer.setValue(["saved": 2], forKey: "k", tags: ["o"])
      try outer.save()
      cache["k"] = nil
      inner["k"] = ["new": 1]
      try inner.save(onConflict: .mine)
      try middle.save(onConflict: .mine)
      try outer.save(onConflict: .mine)
      try #require(cache.find("k")?.tags == ["o"])
    }
  }
}
