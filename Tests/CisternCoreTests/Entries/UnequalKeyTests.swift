import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Keys that do not equal themselves, such as NaN.
struct UnequalKeyTests {
  @Test func `a key that does not equal itself is found, loaded once and removed`() async throws {
    let cache = try Cache<Double, Int>(costLimit: 10, configuration: .ignoringMemoryPressure)
    for _ in 0..<3 {
      let value = try await cache.value(forKey: .nan) { _ in 1 }
      #expect(value == 1)
    }
    #expect(cache.statistics.flights == 1 && cache.statistics.memoryHits == 2)
    cache[.nan] = 2
    #expect(cache[.nan] == 2 && cache[1] == nil && cache.statistics.memory.entryCount == 1)
    cache[.nan] = nil
    #expect(cache[.nan] == nil && cache.statistics.memory.entryCount == 0)
    #expect(cache.checkInvariants() == [])
  }

  private struct Point: Hashable, Sendable {
    let x: Double
    let y: Double
  }

  @Test func `keys that do not equal themselves are told apart by their hashes`() throws {
    let cache = try Cache<Point, Int>(costLimit: 10_000, configuration: .ignoringMemoryPressure)
    for number in 0..<2_000 { cache[Point(x: .nan, y: Double(number))] = number }
    #expect((0..<2_000).allSatisfy { cache[Point(x: .nan, y: Double($0))] == $0 })
    #expect(cache.statistics.memory.entryCount == 2_000)
  }

  @Test func `a failed load leaves no entry of a key that does not equal itself`() async throws {
    let cache = try Cache<Double, Int>(costLimit: 10, configuration: .ignoringMemoryPressure)
    for _ in 0..<3 {
      await #expect(throws: Broken.self) { try await cache.value(forKey: .nan) { _ in throw Broken() } }
    }
    #expect(cache.statistics.inProgressCount == 0)
  }

  private func isInvalidArgument(_ error: any Error) -> Bool { (error as? CisternError)?.code == .invalidArgument }

  @Test func `a batch with a key that does not equal itself throws, and stores nothing`() throws {
    let store = try Store.inMemory(memoryLimit: .mebibytes(1))
    let cache = try store.cache("c", of: Int.self, keyedBy: Level.self)
    #expect {
      try cache.batch { batch in
        batch.setValue(1, forKey: Level(1))
        batch.setValue(2, forKey: Level(.nan))
      }
    } throws: { isInvalidArgument($0) }
    #expect {
      try store.batch { batch in
        batch.setValue(1, forKey: Level(1), in: cache)
        batch.removeValue(forKey: Level(.nan), in: cache)
      }
    } throws: { isInvalidArgument($0) }
    #expect(cache[Level(1)] == nil && cache[Level(.nan)] == nil)
  }

  @Test func `a draft that wrote a key that does not equal itself throws when it is saved`() throws {
    let store = try Store.inMemory(memoryLimit: .mebibytes(1))
    let cache = try store.cache("c", of: Int.self, keyedBy: Level.self)
    cache[Level(.nan)] = 5
    let draft = cache.draft()
    #expect(draft[Level(.nan)] == 5)
    for draft in [draft, draft.draft()] {
      draft[Level(1)] = 1
      draft[Level(.nan)] = 2
      #expect(draft.conflicts == [] && !draft.isEmpty)
      #expect { try draft.save() } throws: { isInvalidArgument($0) }
      draft.discard()
      draft[Level(2)] = 2
      try draft.save()
    }
    #expect(cache[Level(1)] == nil && cache[Level(2)] == 2 && cache[Level(.nan)] == 5)

    let several = store.draft()
    several.setValue(1, forKey: Level(1), in: cache)
    for several in [several, several.draft()] {
      several.setValue(2, forKey: Level(.nan), in: cache)
      #expect { try several.save() } throws: { isInvalidArgument($0) }
    }
    #expect(cache[Level(1)] == nil)
  }

  @Test func `a write of a key that does not equal itself during a save makes the next save throw`() throws {
    for discards in [false, true] {
      let cache = try Cache<Double, Int>(costLimit: 10, configuration: .ignoringMemoryPressure)
      let draft = cache.draft()
      draft[1] = 1
      // Another writer changes the key, so that the policy is asked.
      cache[1] = 5
      let policy = DraftConflictPolicy<Double, Int>.merge { conflict in
        if discards { draft.discard() }
        draft[.nan] = 2
        return conflict.mine
      }
      try draft.save(onConflict: policy)
      #expect(draft.writtenKeys.count == 1 && cache[1] == 1)
      #expect { try draft.save() } throws: { isInvalidArgument($0) }
      draft.discard()
      try draft.save()
      #expect(cache[.nan] == nil)
    }
  }

  @Test func `a removal by a closure finds a key that does not equal itself`() throws {
    let cache = try Cache<Double, Int>(costLimit: 10, configuration: .ignoringMemoryPressure)
    cache[.nan] = 1
    cache[2] = 2
    #expect(cache.removeAll(where: { $0 != 2 }) == 1)
    #expect(cache[.nan] == nil && cache[2] == 2)
  }

  @Test func `a removal by a closure counts a key that does not equal itself once, although both tiers have it`()
    async throws
  {
    let store = try Store(secondTier: FaultInjectingTier(), memoryLimit: .mebibytes(1))
    let cache = try store.cache("c", of: Int.self, keyedBy: Level.self)
    cache[Level(.nan)] = 1
    try await store.flush()
    #expect(cache.removeAll(where: { _ in true }) == 1)
    #expect(cache[Level(.nan)] == nil)
  }

  @Test func `an edit of a key that does not equal itself throws before its operation`() async throws {
    let cache = try Cache<Double, Int>(costLimit: 10, configuration: .ignoringMemoryPressure)
    await #expect {
      try await cache.editValue(forKey: .nan) { _ in
        1
      } confirmedBy: {
        Issue.record("the operation ran")
        return nil
      }
    } throws: { isInvalidArgument($0) }
    #expect(cache[.nan] == nil)
  }
}

/// A key with a floating-point number.
private struct Level: CacheKey {
  let number: Double

  init(_ number: Double) {
    self.number = number
  }

  init?(keyBytes: RawSpan) {
    guard let bits = UInt64(keyBytes: keyBytes) else { return nil }
    number = Double(bitPattern: bits)
  }

  func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    try number.bitPattern.withKeyBytes(body)
  }
}
