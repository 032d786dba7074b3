import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// The details of a value that an unconfirmed edit shows.
struct UnconfirmedDetailsTests {
  enum Place: CaseIterable, Sendable { case memory, evicted, secondTierOnly }

  @Test(arguments: FieldsSubject.Kind.allCases, Place.allCases)
  func `a shown value has the tags of the confirmed one and the age of the edit, in memory or not`(
    kind: FieldsSubject.Kind, place: Place
  ) throws {
    if kind == .memory, place == .secondTierOnly { return }
    try SeededExecutor.run(seed: 0) { executor in
      for measuresAge in [false, true] {
        var configuration = CacheConfiguration<Fields>()
        configuration.measuresAge = measuresAge
        if place == .secondTierOnly { configuration.tiers = .secondTierOnly }
        let subject = try FieldsSubject(kind, on: executor, configuration: configuration)
        let cache = subject.cache
        let tags = measuresAge ? [] : ["tag"]
        subject.clock.advance(by: .seconds(1000))
        cache.setValue(["base": 1], forKey: "k", tags: tags)
        subject.clock.advance(by: .seconds(10))
        let (edit, gate) = await subject.beginEdit("edited", fails: true)
        subject.clock.advance(by: .seconds(5))
        if place == .evicted { subject.store.trimMemory(to: .bytes(0)) }
        let shown: Fields = ["base": 1, "edited": 1]
        let found = [
          cache.find("k"), try await cache.loadedValue(forKey: "k") { _ in [:] },
          try await cache.load("k") { _ in .store([:]) },
        ]
        for loaded in found {
          try #require(loaded?.value == shown)
          try #require(loaded?.tags == tags)
          try #require(loaded?.age == .seconds(5))
          try #require(loaded?.remainingLifetime == nil)
        }
        let entry = try #require(try cache.page().entries.first)
        try #require(entry.tags == tags)
        try #require(entry.age == .seconds(5))
        gate.open()
        await #expect(throws: Broken.self) { try await edit.value }
        try #require(cache.find("k")?.age == .seconds(15))
        try #require(subject.findings == [])
      }
    }
  }

  @Test(arguments: SubjectKind.caches, [false, true])
  func `an update in the background returns the stored value, and not that of unconfirmed edits`(
    kind: SubjectKind, removes: Bool
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      cache["a"] = 1
      let gate = Gate()
      let edit = Task(executorPreference: executor) {
        try? await cache.editValue(forKey: "a") {
          removes ? nil : ($0 ?? 0) + 100
        } confirmedBy: {
          await gate.passUncancelled()
          throw Broken()
        }
      }
      await gate.arrivals(atLeast: 1)
      let update = cache.updateValueInBackground(forKey: "a") { $0 = 2 }
      try #require(try await update.value == 2)
      try #require(cache["a"] == (removes ? nil : 102))
      gate.open()
      _ = await edit.value
      try #require(cache["a"] == 2 && subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, Place.allCases)
  func `each look-up and each load of a shown value counts one hit in memory, and has this source`(
    kind: FieldsSubject.Kind, place: Place
  ) throws {
    if kind == .memory, place == .secondTierOnly { return }
    try SeededExecutor.run(seed: 0) { executor in
      var configuration = CacheConfiguration<Fields>()
      if place == .secondTierOnly { configuration.tiers = .secondTierOnly }
      let subject = try FieldsSubject(kind, on: executor, configuration: configuration)
      let cache = subject.cache
      cache["k"] = ["base": 1]
      let (edit, gate) = await subject.beginEdit("edited", fails: true)
      let loads: [() async throws -> Loaded<Fields>?] = [
        { cache.find("k") },
        { try await cache.loadedValue(forKey: "k") { _ in [:] } },
        { try await cache.load("k") { _ in .store([:]) } },
        { try await cache.load(keys: ["k"]) { _ in [:] }.details["k"] },
      ]
      for load in loads {
        if place == .evicted { subject.store.trimMemory(to: .bytes(0)) }
        let before = cache.statistics
        try #require(try await load()?.source == .memory)
        let after = cache.statistics
        try #require(after.memoryHits == before.memoryHits + 1 && after.lookUps == before.lookUps + 1)
      }
      gate.open()
      await #expect(throws: Broken.self) { try await edit.value }
      try #require(subject.findings == [])
    }
  }
}
