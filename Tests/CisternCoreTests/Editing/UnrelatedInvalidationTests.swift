import CisternCore
import CisternTesting
import CisternTestSupport
import Locking
import Testing

/// Writes that depend on the cached value, during invalidations that cover their keys and others that do not.
struct UnrelatedInvalidationTests {
  /// Creates a subject whose cache holds `["base": 1]` under "k", in memory or only on disk.
  private func subject(
    _ kind: FieldsSubject.Kind, isEvicted: Bool, on executor: SeededExecutor,
    configuration: CacheConfiguration<Fields> = CacheConfiguration()
  ) throws -> FieldsSubject {
    let subject = try FieldsSubject(kind, on: executor, configuration: configuration)
    subject.cache.setValue(["base": 1], forKey: "k", tags: ["tag"])
    if isEvicted, kind != .memory { subject.cache.trim(toCost: 0) }
    return subject
  }

  @Test(arguments: FieldsSubject.Kind.allCases, KeyRemoval.allCases)
  func `an update runs again if an invalidation covers the value it read, and not otherwise`(
    kind: FieldsSubject.Kind, removal: KeyRemoval
  ) throws {
    for isEvicted in [false, true] {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try subject(kind, isEvicted: isEvicted, on: executor)
        let cache = subject.cache
        let attempts = Counter()
        try await cache.updateValue(forKey: "k") { value async in
          attempts.increment()
          for _ in 0..<50 {
            removal.apply(to: cache)
            await Task.yield()
          }
          value = (value ?? [:]).merging(["updated": 1]) { $1 }
        }
        try #require(attempts.value == (removal.isConcerned ? 2 : 1))
        let expected: Fields = removal.isConcerned ? ["updated": 1] : ["base": 1, "updated": 1]
        try #require(subject.valuesFromBothTiers("k") == [expected, expected])
        let isSynchronous = Counter()
        Self.updateAtOnce(cache, removal, isSynchronous)
        try #require(isSynchronous.value == (removal == .prefix ? 2 : 1))
        try #require(subject.findings == [])
      }
    }
  }

  private static func updateAtOnce(_ cache: Cache<String, Fields>, _ removal: KeyRemoval, _ attempts: Counter) {
    cache.updateValue(forKey: "k") { value in
      attempts.increment()
      removal.apply(to: cache)
      value = ["last": 1]
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, KeyRemoval.allCases)
  func `a merge function that invalidates keys ends, for every kind of write`(
    kind: FieldsSubject.Kind, removal: KeyRemoval
  ) throws {
    for isEvicted in [false, true] {
      try SeededExecutor.run(seed: 0) { executor in
        let link = Link()
        let merges = Counter()
        let configuration = CacheConfiguration<Fields>(merge: { cached, incoming in
          merges.increment()
          if let cache = link.cache { removal.apply(to: cache) }
          return cached.merging(incoming) { $1 }
        })
        let subject = try subject(kind, isEvicted: isEvicted, on: executor, configuration: configuration)
        let cache = subject.cache
        let ways: [() async throws -> Void] = [
          { cache.setValue(["new": 1], forKey: "k", tags: ["tag"]) },
          { try cache.batch { $0.setValue(["new": 1], forKey: "k", tags: ["tag"]) } },
          { _ = try await cache.refreshValue(forKey: "k", tags: ["tag"]) { _ in ["new": 1] } },
          {
            let draft = cache.draft()
            draft.setValue(["new": 1], forKey: "k", tags: ["tag"])
            try draft.save(onConflict: .mine)
          },
          {
            _ = try await cache.editValue(forKey: "k", options: UpdateOptions(tags: ["tag"])) {
              $0
            } confirmedBy: {
              ["new": 1]
            }
          },
        ]
        for way in ways {
          link.cache = nil
          cache["k"] = nil
          cache.setValue(["base": 1], forKey: "k", tags: ["tag"])
          if isEvicted, kind != .memory { cache.trim(toCost: 0) }
          link.cache = cache
          let before = merges.value
          try await way()
          link.cache = nil
          try #require((1...2).contains(merges.value - before))
          if !removal.isConcerned {
            try #require(subject.valuesFromBothTiers("k") == [["base": 1, "new": 1], ["base": 1, "new": 1]])
          }
        }
        link.cache = nil
        try #require(subject.findings == [])
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, KeyRemoval.allCases)
  func `a write ends even if the function for the lifetime invalidates keys`(
    kind: FieldsSubject.Kind, removal: KeyRemoval
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let link = Link()
      var configuration = CacheConfiguration<Fields>(merge: mergeFields)
      configuration.expiryOfValue = { _ in
        if let cache = link.cache { removal.apply(to: cache) }
        return .after(.seconds(60))
      }
      let subject = try subject(kind, isEvicted: false, on: executor, configuration: configuration)
      let cache = subject.cache
      link.cache = cache
      cache.setValue(["set": 1], forKey: "k", tags: ["tag"])
      cache.updateValue(forKey: "k", tags: ["tag"]) { $0 = ["updated": 1] }
      try cache.batch { $0.setValue(["batch": 1], forKey: "k", tags: ["tag"]) }
      _ = try await cache.editValue(forKey: "k", options: UpdateOptions(tags: ["tag"])) { _ in
        ["edited": 1]
      } confirmedBy: {
        nil
      }
      link.cache = nil
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, KeyRemoval.allCases)
  func `a draft has a conflict if an invalidation covers its key's value, and not otherwise`(
    kind: FieldsSubject.Kind, removal: KeyRemoval
  ) throws {
    for isEvicted in [false, true] {
      for readsFirst in [false, true] {
        try SeededExecutor.run(seed: 0) { executor in
          let subject = try subject(kind, isEvicted: isEvicted, on: executor)
          let cache = subject.cache
          let draft = cache.draft()
          if readsFirst { try #require(draft["k"] == ["base": 1]) }
          draft["k"] = ["mine": 1]
          for _ in 0..<5 { removal.apply(to: cache) }
          for _ in 0..<50 { await Task.yield() }
          try #require(draft.conflicts == (removal.isConcerned ? ["k"] : []))
          if removal.isConcerned {
            #expect(throws: CisternError.self) { try draft.save() }
            draft.discard()
          } else {
            try draft.save()
            try #require(subject.valuesFromBothTiers("k") == [["mine": 1], ["mine": 1]])
          }
          try #require(subject.findings == [])
        }
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `an invalidation of a new tag covers an equal value stored with that tag`(kind: FieldsSubject.Kind) throws {
    for removes in [false, true] {
      try SeededExecutor.run(seed: 0) { executor in
        var configuration = CacheConfiguration<Fields>(merge: mergeFields)
        configuration.isEqual = { $0 == $1 }
        let subject = try subject(kind, isEvicted: false, on: executor, configuration: configuration)
        let cache = subject.cache
        let draft = cache.draft()
        draft["k"] = ["mine": 1]
        cache.setValue(["base": 1], forKey: "k", tags: ["another"])
        // No read of the key happens in between.
        if removes { cache.removeAll(tagged: "another") }
        try #require(draft.conflicts == (removes ? ["k"] : []))
        draft.discard()
        try #require(subject.findings == [])
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, KeyRemoval.allCases)
  func `a fetched value is merged with a value set during the fetch, unless an invalidation covers it`(
    kind: FieldsSubject.Kind, removal: KeyRemoval
  ) throws {
    try SeededSchedule.explore(seeds: 30) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let cache = subject.cache
      let gate = Gate()
      let load = subject.task {
        try await cache.value(forKey: "k", tags: ["tag"]) { _ in
          await gate.passUncancelled()
          return ["loaded": 1]
        }
      }
      await gate.arrivals(atLeast: 1)
      var generator = SeededGenerator(seed: executor.seed)
      let setsFirst = executor.seed % 2 == 0
      if setsFirst { cache["k"] = ["set": 1] }
      for _ in 0..<3 {
        removal.apply(to: cache)
        // A sweep may run in between.
        await pause(&generator)
      }
      if !setsFirst { cache["k"] = ["set": 1] }
      gate.open()
      _ = try await load.value
      let value = cache["k"]
      if removal.isConcerned {
        try #require(value?["loaded"] == nil)
      } else {
        try #require(value == ["set": 1, "loaded": 1])
      }
      for _ in 0..<50 { await Task.yield() }
      cache.removeAll(tagged: "last")
      for _ in 0..<50 { await Task.yield() }
      try #require(cache.pendingInvalidationCount == 0)
      try #require(subject.findings == [])
    }
  }
}

/// A counter that closures increment on any thread.
private final class Counter: Sendable {
  private let count = Guarded(0)
  func increment() { count.withLock { $0 += 1 } }
  var value: Int { count.withLock { $0 } }
}

/// A reference through which a closure of the configuration uses the cache.
private final class Link: Sendable {
  private let held = Guarded<Cache<String, Fields>?>(nil)
  var cache: Cache<String, Fields>? {
    get { held.withLock { $0 } }
    set { held.withLock { $0 = newValue } }
  }
}
