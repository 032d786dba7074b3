import Cistern
import CisternTesting
import Testing

/// Assertion 5, for tags and prefixes: what was invalidated is read by nobody, whenever that happened.
struct TagAndPrefixTests {
  enum Way: CaseIterable, Sendable {
    case tag, tagOfValue, prefix, predicate

    func apply(to cache: Cache<String, Int>) {
      switch self {
      case .tag: cache.removeAll(tagged: "news")
      case .tagOfValue: cache.removeAll(tagged: "odd")
      case .prefix: cache.removeAll(withPrefix: "a/")
      case .predicate: cache.removeAll(where: { $0.hasPrefix("a/") })
      }
    }
  }

  private static var settings: CacheConfiguration<Int> {
    var settings = CacheConfiguration<Int>()
    settings.tagsOfValue = { $0 % 2 == 0 ? [] : ["odd"] }
    return settings
  }

  @Test(arguments: SubjectKind.caches, Way.allCases)
  func `what a tag or prefix concerns is gone from both tiers at once, and the rest stays`(
    kind: SubjectKind, way: Way
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, settings: Self.settings)
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
        // What is stored from now on is there.
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
  func `tags are given by updates, confirmed edits, bulk loads, batches and drafts, too`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      let tags = ["news"]
      cache.updateValue(forKey: "a", tags: tags) { $0 = 1 }
      try await cache.updateValue(forKey: "b", tags: tags) { value async in value = 1 }
      try await withCheckedThrowingContinuation { done in
        cache.updateValueInBackground(forKey: "c", tags: tags) {
          $0 = 1
        } completion: {
          done.resume(with: $0.map { _ in })
        }
      }
      try await cache.editValue(forKey: "d", tags: tags) { _ in
        1
      } confirmedBy: {
        2
      }
      try await cache.editValue(forKey: "e", tags: tags) { _ in
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
      // An update's tags take the place of the old ones.
      cache.setValue(1, forKey: "kept", tags: tags)
      cache.updateValue(forKey: "kept", tags: ["other"]) { $0 = 2 }
      if kind != .memory { cache.trim(toCost: 0) }
      for key in "abcdefghi" { try #require(cache[String(key)] != nil) }
      cache.removeAll(tagged: "news")
      for key in "abcdefghi" { try #require(cache[String(key)] == nil) }
      try #require(cache["kept"] == 2)
    }
  }

  @Test(arguments: SubjectKind.caches, Way.allCases)
  func `after an invalidation at any instant of a load nobody who asks later reads what the load brings`(
    kind: SubjectKind, way: Way
  ) throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(kind, on: executor, settings: Self.settings)
      let cache = subject.cache
      // Always odd: 1, 3, 5, …
      let origin = ScriptedOrigin<String, Int> { _, number in .yielding(3, .value(2 * number - 1)) }
      @Sendable func load() -> Task<Int, any Error> {
        Task(executorPreference: executor) {
          try await cache.value(forKey: "a/1", tags: ["news"], fetch: origin.fetch)
        }
      }
      let loads = (0..<3).map { _ in load() }
      while origin.callCount == 0 { await Task.yield() }
      var generator = SeededGenerator(seed: executor.seed)
      await pause(&generator)
      let begun = origin.callCount
      way.apply(to: cache)
      // A predicate visits what is there, and a flight is not: whoever removes by predicate does not stop it.
      guard way != .predicate else { return }
      try #require(cache["a/1"] == nil || origin.callCount > begun)
      let later = load()
      try #require(try await later.value > 2 * begun - 1)
      let outcomes = Set([await outcome(loads[0]), await outcome(loads[1]), await outcome(loads[2])])
      for case .value(let number) in outcomes { try #require(number >= 1) }
      while origin.runningCount > 0 || subject.inProgressCount > 0 { await Task.yield() }
      try #require(cache["a/1"].map { $0 > 2 * begun - 1 } ?? true)
      if kind != .memory {
        cache.trim(toCost: 0)
        try #require(cache["a/1"].map { $0 > 2 * begun - 1 } ?? true)
      }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `who joins a flight after an invalidation does not get what it brings, also where a write took its entry`(
    kind: SubjectKind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      for isBulk in [false, true] {
        for isWritten in [false, true] {
          let subject = try Subject(kind, on: executor, settings: Self.settings)
          let cache = subject.cache
          let (gate, started) = (Gate(isOpen: false), Gate(isOpen: false))
          let early = Task(executorPreference: executor) {
            try await cache.value(forKey: "a/1") { _ in
              started.open()
              try await gate.pass()
              return 1
            }
          }
          try await started.pass()
          Way.tagOfValue.apply(to: cache)
          let late = Task(executorPreference: executor) { () async throws -> Int? in
            if isBulk { return try await cache.values(forKeys: ["a/1"]) { _ in ["a/1": 5] }["a/1"] }
            return try await cache.value(forKey: "a/1") { _ in 5 }
          }
          while cache.statistics.waiterCount < 2 { await Task.yield() }
          if isWritten { cache["a/1"] = 3 }
          gate.open()
          try #require(try await early.value == 1)
          try #require(try await late.value == (isWritten ? 3 : 5))
        }
      }
    }
  }

  @Test(arguments: SubjectKind.tiered, [Way.tag, .prefix])
  func `an invalidation outlives a restart once it is committed, and what came after it, too`(
    kind: SubjectKind, way: Way
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
      // Its own invalidations are newer than those before.
      way.apply(to: reopened.cache)
      try #require(reopened.cache["a/2"] == nil)
      try #require(reopened.cache["b/1"] == 1)
      try #require(reopened.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `observers are told once, in order with the changes of the keys, and the next value is an insertion`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(kind, on: executor, settings: Self.settings)
      let cache = subject.cache
      let audit = ChangeAudit()
      let token = cache.observe { audit.take($0) }
      let writers = (0..<3).map { writer in
        Task(executorPreference: executor) {
          var generator = SeededGenerator(seed: executor.seed &* 3 &+ UInt64(writer))
          for number in 0..<12 {
            let key = generator.next(below: 2) == 0 ? "a/\(generator.next(below: 2))" : "b"
            switch generator.next(below: 7) {
            case 0: cache.removeAll(tagged: "odd")
            case 1: cache.removeAll(withPrefix: "a/")
            case 2: cache.removeValue(forKey: key)
            case 3: _ = cache[key]
            case 4: cache.trim(toCost: 0)
            case 5: _ = try? await cache.value(forKey: key) { _ in number }
            default: cache.setValue(number, forKey: key)
            }
            await pause(&generator, atMost: 2)
          }
        }
      }
      for writer in writers { await writer.value }
      for _ in 0..<200 { await Task.yield() }
      try #require(audit.findings == [])
      for key in ["a/0", "a/1", "b"] { try #require(cache[key] == audit.values[key]) }
      try #require(subject.findings == [])
      token.cancel()
    }
  }

  @Test func `a sweep lets go of what was invalidated, and of the invalidation`() throws {
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

  @Test(arguments: SubjectKind.caches)
  func `an observer of a tag hears of the values that carry it, come or gone, once each, and of no others`(
    kind: SubjectKind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      let heard = Recorder<String>()
      let token = cache.observe(.tagged("news")) { change in
        switch change.event {
        case .inserted(let key, let value): heard.record("+\(key)=\(value)")
        case .updated(let key, let value): heard.record("\(key)=\(value)")
        case .removed(let key, let cause): heard.record("-\(key) \(cause)")
        case .cleared: heard.record("cleared")
        case .invalidated(let what): heard.record("\(what)")
        }
      }
      cache.setValue(1, forKey: "a", tags: ["news", "sport"])
      cache.setValue(1, forKey: "b", tags: ["sport"])
      cache.setValue(2, forKey: "a", tags: ["news"])
      cache.setValue(2, forKey: "b", tags: ["news"])
      cache.setValue(3, forKey: "b")
      cache.setValue(4, forKey: "b")
      _ = try await cache.value(forKey: "c", tags: ["news"]) { _ in 7 }
      cache.removeValue(forKey: "a")
      try cache.batch { batch in
        batch.setValue(8, forKey: "d", tags: ["news"])
        batch.setValue(8, forKey: "e")
      }
      cache.removeValue(forKey: "e")
      cache.removeAll(tagged: "news")
      for _ in 0..<100 { await Task.yield() }
      try #require(
        heard.elements == ["+a=1", "a=2", "b=2", "b=3", "+c=7", "-a explicit", "+d=8", "tag(\"news\")"])
      token.cancel()
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `who joins a load between two invalidations does not get what it brings, as who joins after the last`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, number in .gated(gate, .value(number)) }
      @Sendable func load() -> Task<Int, any Error> {
        Task(executorPreference: executor) { try await cache.value(forKey: "a", tags: ["news"], fetch: origin.fetch) }
      }
      let before = load()
      await gate.arrivals(atLeast: 1)
      cache.removeAll(tagged: "news")
      let between = load()
      while cache.statistics.waiterCount < 2 { await Task.yield() }
      if executor.seed % 2 == 0 { cache.removeAll(tagged: "news") } else { cache.removeAll(tagged: "other") }
      // With and without the sweep that forgets what was invalidated.
      for _ in 0..<(executor.seed % 3 == 0 ? 0 : 200) { await Task.yield() }
      let after = load()
      while cache.statistics.waiterCount < 3 { await Task.yield() }
      gate.open()
      try #require(try await before.value == 1)
      try #require(try await between.value > 1)
      try #require(try await after.value > 1)
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(cache["a"].map { $0 > 1 } ?? true)
      try #require(subject.findings == [])
    }
  }
}
