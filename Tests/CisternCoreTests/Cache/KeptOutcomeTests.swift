import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// A fetch that confirms the stored value, beside changes of that value.
struct KeptOutcomeTests {
  /// The place of the stored value while its fetch runs.
  enum Place: CaseIterable, Sendable {
    case memory, evictedBefore, evictedDuring, expiredDuring
  }

  /// Creates a cache that has the value 7 with the tag "news" in this place when its fetch begins.
  private static func subject(_ kind: SubjectKind, with place: Place, on executor: SeededExecutor) throws -> Subject {
    let subject = try Subject(kind, on: executor, expiry: place == .expiredDuring ? .after(.seconds(30)) : .never)
    subject.cache.setValue(7, forKey: "a", tags: ["news"])
    if executor.seed % 2 == 0 { subject.tier?.commit() }
    if place == .evictedBefore { subject.cache.trim(toCost: 0) }
    return subject
  }

  /// Lets the value leave memory, if its place says so.
  private static func leaveMemory(_ place: Place, _ subject: Subject) throws {
    switch place {
    case .memory, .evictedBefore: break
    case .evictedDuring: subject.cache.trim(toCost: 0)
    case .expiredDuring:
      subject.clock.advance(by: .seconds(31))
      try #require(subject.cache["a"] == nil)
    }
  }

  @Test(arguments: SubjectKind.caches, Place.allCases)
  func `a value that was invalidated during its fetch does not come back with new tags`(
    kind: SubjectKind, place: Place
  ) throws {
    // Without a second tier, an evicted value is lost before the fetch reads it.
    if kind == .memory, place == .evictedBefore { return }
    try SeededSchedule.explore(seeds: 40) { executor in
      let subject = try Self.subject(kind, with: place, on: executor)
      let cache = subject.cache
      let gate = Gate()
      let load = Task(executorPreference: executor) {
        try await cache.load("a", policy: .reload) { context in
          try #require(context.stored?.value == 7)
          try await gate.pass()
          return .keepStored(expiry: .never, tags: ["sport"])
        }
      }
      await gate.arrivals(atLeast: 1)
      try Self.leaveMemory(place, subject)
      cache.removeAll(tagged: "news")
      gate.open()
      try #require(try await load.value?.value == 7)
      try #require(cache["a"] == nil)
      if kind != .memory { cache.trim(toCost: 0) }
      try #require(cache["a"] == nil)
      try #require(cache.statistics.inProgressCount == 0 && subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, Place.allCases)
  func `a value that left memory during its fetch is kept with new tags`(kind: SubjectKind, place: Place) throws {
    if kind == .memory, place == .evictedBefore { return }
    try SeededSchedule.explore(seeds: 20) { executor in
      let subject = try Self.subject(kind, with: place, on: executor)
      let cache = subject.cache
      let loaded = try await cache.load("a", policy: .reload) { _ in
        try Self.leaveMemory(place, subject)
        // It concerns neither the former tags nor the new ones.
        cache.removeAll(tagged: "weather")
        return .keepStored(expiry: .never, tags: ["sport"])
      }
      try #require(loaded?.value == 7)
      cache.removeAll(tagged: "news")
      try #require(subject.valuesFromBothTiers("a") == (kind == .memory ? [7, nil] : [7, 7]))
      cache.removeAll(tagged: "sport")
      try #require(cache["a"] == nil && subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a kept value does not replace one that an older fetch was merged into`(kind: FieldsSubject.Kind) throws {
    try SeededSchedule.explore(seeds: 40) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let cache = subject.cache
      let (older, newer) = (Gate(), Gate())
      let first = subject.task {
        try await cache.value(forKey: "k") { _ in
          try await older.pass()
          return ["older": 1]
        }
      }
      await older.arrivals(atLeast: 1)
      cache["k"] = ["set": 1]
      let second = subject.task {
        try await cache.load("k", policy: .reload) { context in
          try #require(context.stored?.value == ["set": 1])
          try await newer.pass()
          return .keepStored(tags: ["kept"])
        }
      }
      await newer.arrivals(atLeast: 1)
      older.open()
      try #require(try await first.value == ["older": 1, "set": 1])
      newer.open()
      try #require(try await second.value?.value == ["set": 1])
      try #require(subject.valuesFromBothTiers("k").allSatisfy { $0 == ["older": 1, "set": 1] })
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, [true, false])
  func `a kept value does not replace one that was edited in between`(
    kind: FieldsSubject.Kind, isConfirmed: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 40) { executor in
      let subject = try FieldsSubject(plain: kind, on: executor)
      let cache = subject.cache
      cache["k"] = ["base": 1]
      let (fetched, edited) = (Gate(), Gate())
      let load = subject.task {
        try await cache.load("k", policy: .reload) { _ in
          try await fetched.pass()
          return .keepStored(tags: ["kept"])
        }
      }
      await fetched.arrivals(atLeast: 1)
      let edit = subject.edit("edited", gate: edited, fails: !isConfirmed)
      await edited.arrivals(atLeast: 1)
      if executor.seed % 2 == 0 { fetched.open() }
      edited.open()
      _ = try? await edit.value
      fetched.open()
      try #require(try await load.value?.value == ["base": 1])
      let expected: Fields = isConfirmed ? ["base": 1, "edited": 1] : ["base": 1]
      try #require(subject.valuesFromBothTiers("k").allSatisfy { $0 == expected })
      try #require(subject.findings == [])
    }
  }
}
