import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Two flights of one key in a cache that merges.
struct MergingFlightTests {
  @Test(arguments: FieldsSubject.Kind.allCases, [true, false])
  func `a fetch that began after a set is merged over it, although an older fetch ends before`(
    kind: FieldsSubject.Kind, isEvicted: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 60) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let cache = subject.cache
      let (older, newer) = (Gate(), Gate())
      let first = await Self.lead(subject, ["older": 1, "all": 1], until: older)
      cache["k"] = ["set": 2, "all": 2]
      if isEvicted, kind != .memory { cache.trim(toCost: 0) }
      let second = await Self.lead(subject, ["newer": 3, "all": 3], policy: .reload, until: newer)
      older.open()
      try #require(try await first.value == ["older": 1, "set": 2, "all": 2])
      // The newer flight still has the entry: a load joins it.
      let third = subject.task { try await cache.value(forKey: "k", policy: .reload) { _ in ["third": 4] } }
      while cache.statistics.joins < 1 { await Task.yield() }
      newer.open()
      try #require(try await second.value == ["older": 1, "set": 2, "newer": 3, "all": 3])
      try #require(try await third.value == ["older": 1, "set": 2, "newer": 3, "all": 3])
      for value in subject.valuesFromBothTiers("k") {
        try #require(value == ["older": 1, "set": 2, "newer": 3, "all": 3])
      }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `the newer fetch keeps its entry below unconfirmed edits, too`(kind: FieldsSubject.Kind) throws {
    try SeededSchedule.explore(seeds: 40) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let cache = subject.cache
      let (older, newer, edited) = (Gate(), Gate(), Gate())
      // A failing edit leaves no trace.
      let edit = subject.edit("edited", gate: edited, fails: true)
      await edited.arrivals(atLeast: 1)
      let first = await Self.lead(subject, ["older": 1, "all": 1], policy: .reload, until: older)
      cache["k"] = ["set": 2, "all": 2]
      let second = await Self.lead(subject, ["newer": 3, "all": 3], policy: .reload, until: newer)
      older.open()
      _ = try await first.value
      newer.open()
      _ = try await second.value
      edited.open()
      _ = try? await edit.value
      for value in subject.valuesFromBothTiers("k") {
        try #require(value == ["older": 1, "set": 2, "newer": 3, "all": 3])
      }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a look-up for the newer flight does not bring back the record before the merge`(
    kind: FieldsSubject.Kind
  ) throws {
    try SeededExecutor.run(seed: 1) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let cache = subject.cache
      let (older, newer, contexts) = (Gate(), Gate(), Recorder<FetchContext<String, Fields>>())
      let first = await Self.lead(subject, ["older": 1], until: older)
      cache["k"] = ["set": 2]
      let second = subject.task {
        try await cache.load("k", policy: .reload) { context in
          contexts.record(context)
          try await newer.pass()
          return .store(["newer": 3])
        }
      }
      await newer.arrivals(atLeast: 1)
      let flight = contexts.elements[0].flight.flight
      try #require(!flight.hasNewerRecord)
      older.open()
      _ = try await first.value
      // Promotions of a record that was read before are refused.
      try #require(flight.hasNewerRecord)
      newer.open()
      _ = try await second.value
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, [true, false])
  func `the result of a fetch before a fetch anew is not stored, whichever ends first`(
    kind: FieldsSubject.Kind, isSetBetween: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 60) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let cache = subject.cache
      cache["k"] = ["stored": 0, "all": 0]
      let (older, newer) = (Gate(), Gate())
      let first = await Self.lead(subject, ["older": 1, "all": 1], policy: .reload, until: older)
      if isSetBetween { cache["k"] = ["set": 2, "all": 2] }
      let second = await Self.lead(subject, ["newer": 3, "all": 3], policy: .fetchAnew, until: newer)
      var end: Fields = ["stored": 0, "newer": 3, "all": 3]
      if isSetBetween { end["set"] = 2 }
      if executor.seed % 2 == 0 {
        newer.open()
        try #require(try await second.value == end)
      }
      older.open()
      try #require(try await first.value == ["older": 1, "all": 1])
      newer.open()
      try #require(try await second.value == end)
      for value in subject.valuesFromBothTiers("k") { try #require(value == end) }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, [true, false])
  func `the result of a fetch that begins after its flight was replaced is not stored`(
    kind: FieldsSubject.Kind, endsFirst: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 30) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let cache = subject.cache
      cache["k"] = ["stored": 0]
      let (older, ended) = (Gate(), Gate())
      let started = cache.refresh("k") { _ in
        try await older.pass()
        ended.open()
        return .store(["older": 1])
      }
      try #require(started)
      // This load replaces the flight before its task begins.
      let loaded = try await cache.value(forKey: "k", policy: .fetchAnew) { _ in
        await older.arrivals(atLeast: 1)
        if endsFirst {
          older.open()
          await ended.passUncancelled()
          for _ in 0..<50 { await Task.yield() }
        }
        return ["newer": 2]
      }
      try #require(loaded == ["stored": 0, "newer": 2])
      older.open()
      await ended.passUncancelled()
      for _ in 0..<50 { await Task.yield() }
      for value in subject.valuesFromBothTiers("k") { try #require(value == loaded) }
      try #require(subject.findings == [])
    }
  }

  /// Leads a load whose fetch returns a value when the gate opens. Returns when the fetch has begun.
  private static func lead(
    _ subject: FieldsSubject, _ value: Fields, policy: LoadPolicy? = nil, until gate: Gate
  ) async -> Task<Fields, any Error> {
    let led = subject.task {
      try await subject.cache.value(forKey: "k", policy: policy) { _ in
        try await gate.pass()
        return value
      }
    }
    await gate.arrivals(atLeast: 1)
    return led
  }

  /// A fetch or a set that removes the older value.
  enum Removal: CaseIterable, Sendable {
    case returnAndRemove, store, storeByValue, keepStored, plain, set, batch, draft
  }

  @Test(arguments: FieldsSubject.Kind.allCases, Removal.allCases)
  func `a value without a lifetime ends older fetches of its key, as a removal does`(
    kind: FieldsSubject.Kind, removal: Removal
  ) throws {
    try SeededSchedule.explore(seeds: 20) { executor in
      var configuration = CacheConfiguration<Fields>(merge: mergeFields)
      configuration.expiryOfValue = { $0["brief"] == nil ? nil : .after(.zero) }
      let subject = try FieldsSubject(kind, on: executor, configuration: configuration)
      let (cache, older) = (subject.cache, Gate())
      let first = await Self.lead(subject, ["older": 1], until: older)
      cache["k"] = ["set": 2]
      switch removal {
      case .returnAndRemove: _ = try await cache.load("k", policy: .reload) { _ in .returnAndRemove(["newer": 3]) }
      case .store: _ = try await cache.load("k", policy: .reload) { _ in .store(["newer": 3], expiry: .after(.zero)) }
      case .storeByValue: _ = try await cache.load("k", policy: .reload) { _ in .store(["brief": 3]) }
      case .keepStored: _ = try await cache.load("k", policy: .reload) { _ in .keepStored(expiry: .after(.zero)) }
      case .plain: _ = try await cache.value(forKey: "k", policy: .reload) { _ in ["brief": 3] }
      case .set: cache.setValue(["newer": 3], forKey: "k", expiry: .after(.zero))
      case .batch: try cache.batch { $0.setValue(["newer": 3], forKey: "k", expiry: .after(.zero)) }
      case .draft:
        let draft = cache.draft()
        draft.setValue(["newer": 3], forKey: "k", expiry: .after(.zero))
        try draft.save()
      }
      try #require(cache["k"] == nil)
      cache["k"] = ["later": 4]
      older.open()
      try #require(try await first.value == ["older": 1])
      for value in subject.valuesFromBothTiers("k") { try #require(value == ["later": 4]) }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a value without a lifetime below an unconfirmed edit ends older fetches of its key`(
    kind: FieldsSubject.Kind
  ) throws {
    try SeededSchedule.explore(seeds: 20) { executor in
      let subject = try FieldsSubject(kind, on: executor, configuration: CacheConfiguration<Fields>(merge: mergeFields))
      let (cache, older) = (subject.cache, Gate())
      let first = await Self.lead(subject, ["older": 1], until: older)
      cache["k"] = ["set": 2]
      let (edit, gate) = await subject.beginEdit("edited", fails: true)
      cache.setValue(["newer": 3], forKey: "k", expiry: .after(.zero))
      cache["k"] = ["later": 4]
      older.open()
      _ = try await first.value
      gate.open()
      _ = await edit.result
      for value in subject.valuesFromBothTiers("k") { try #require(value == ["later": 4]) }
      try #require(subject.findings == [])
    }
  }
}
