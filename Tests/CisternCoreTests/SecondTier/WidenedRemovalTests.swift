import CisternTesting
import CisternTestSupport
import Locking
import Testing

@testable import CisternCore

/// Removals by tag over a tier that does not invalidate exactly, during writes that depend on the cached value. Each
/// removal takes all keys.
@Suite struct WidenedRemovalTests {
  /// A cache over such a tier, and a count of the removals that a function of a write makes.
  private final class Fixture: Sendable {
    let store: Store
    let cache: Cache<String, Int>
    private let link: Link

    /// A reference through which a function of the configuration uses the cache.
    final class Link: Sendable {
      let removals = Guarded((cache: Cache<String, Int>?.none, count: 0))

      /// Removes another tag. Ends at a count that a write must not reach, so that a failing test ends.
      func remove() {
        let cache = removals.withLock { removals -> Cache<String, Int>? in
          guard let cache = removals.cache, removals.count < 100 else { return nil }
          removals.count += 1
          return cache
        }
        cache?.removeAll(tagged: "other")
      }
    }

    init(
      on executor: SeededExecutor? = nil,
      _ configure: (inout CacheConfiguration<Int>, Link) -> Void = { _, _ in }
    ) throws {
      let link = Link()
      var configuration = CacheConfiguration<Int>()
      configure(&configuration, link)
      store = try Store(
        secondTier: SmallTier(), memoryLimit: .mebibytes(1),
        configuration: .ignoringMemoryPressure(clock: ManualClock(), taskExecutor: executor))
      cache = try store.cache("p", of: Int.self, keyedBy: String.self, configuration: configuration)
      self.link = link
    }

    /// Puts a value under "k", runs a write, and returns the number of removals during it.
    func removals(isAbsent: Bool, isEvicted: Bool, during write: (Link) throws -> Void) rethrows -> Int {
      link.removals.withLock { $0 = (nil, 0) }
      if isAbsent { cache["k"] = nil } else { cache["k"] = 1 }
      if isEvicted { store.trimMemory(to: .bytes(0)) }
      link.removals.withLock { $0.cache = cache }
      defer { link.removals.withLock { $0.cache = nil } }
      try write(link)
      return link.removals.withLock { $0.count }
    }
  }

  @Test(arguments: [false, true], [false, true])
  func `an update that removes another tag runs again without the removed value, and ends`(
    isAbsent: Bool, isEvicted: Bool
  ) throws {
    let fixture = try Fixture()
    var received: [Int?] = []
    let count = fixture.removals(isAbsent: isAbsent, isEvicted: isEvicted) { link in
      fixture.cache.updateValue(forKey: "k") { value in
        received.append(value)
        link.remove()
        value = (value ?? 10) + 1
      }
    }
    #expect(received == (isAbsent ? [nil] : [1, nil]))
    #expect(count == received.count)
    fixture.store.trimMemory(to: .bytes(0))
    #expect(fixture.cache["k"] == 11)
    #expect(fixture.cache.checkInvariants() == [])
  }

  @Test(arguments: [false, true], [false, true])
  func `every write of a cache that merges ends if its functions remove a tag`(isAbsent: Bool, isEvicted: Bool) throws {
    for isMerge in [false, true] {
      let fixture = try Fixture { configuration, link in
        configuration = CacheConfiguration<Int>(merge: { cached, incoming in
          if isMerge { link.remove() }
          return cached + incoming
        })
        if !isMerge {
          configuration.expiryOfValue = { _ in
            link.remove()
            return .never
          }
        }
      }
      let cache = fixture.cache
      let writes: [() throws -> Void] = [
        { cache["k"] = 2 },
        { try cache.batch { $0.setValue(2, forKey: "k") } },
        { try fixture.store.batch { $0.setValue(2, forKey: "k", in: cache) } },
        {
          let draft = cache.draft()
          draft["k"] = 2
          try draft.save(onConflict: .mine)
        },
      ]
      for (number, write) in writes.enumerated() {
        let count = try fixture.removals(isAbsent: isAbsent, isEvicted: isEvicted) { _ in try write() }
        #expect(count <= 3, "write \(number)")
        #expect(cache["k"] == 2, "write \(number)")
      }
      #expect(cache.checkInvariants() == [])
    }
  }

  @Test func `an asynchronous update ends beside removals of tags that never cease`() throws {
    try SeededSchedule.explore(seeds: 20) { executor in
      let fixture = try Fixture(on: executor)
      let cache = fixture.cache
      cache["k"] = 1
      let isDone = Switch<Bool>()
      let remover = Task(executorPreference: executor) {
        for _ in 0..<500 where isDone.peek() == nil {
          cache.removeAll(tagged: "other")
          await Task.yield()
        }
      }
      let attempts = Guarded(0)
      try await cache.updateValue(forKey: "k") { value async in
        attempts.withLock { $0 += 1 }
        for _ in 0..<20 { await Task.yield() }
        value = (value ?? 10) + 1
      }
      isDone.set(true)
      await remover.value
      try #require(attempts.withLock { $0 } <= 2)
      try #require(cache.checkInvariants() == [])
    }
  }

  @Test func `an unconfirmed edit ends with the removal, and an update of its key ends`() async throws {
    let fixture = try Fixture()
    let cache = fixture.cache
    cache["k"] = 1
    let gate = Gate()
    let edit = Task {
      try await cache.editValue(forKey: "k") { _ in
        5
      } confirmedBy: {
        await gate.passUncancelled()
        return nil
      }
    }
    await gate.arrivals(atLeast: 1)
    var received: [Int?] = []
    cache.updateValue(forKey: "k") { value in
      received.append(value)
      if received.count < 10 { cache.removeAll(tagged: "other") }
      value = 7
    }
    #expect(received == [1, nil])
    gate.open()
    _ = try? await edit.value
    #expect(cache.checkInvariants() == [])
  }

  @Test(arguments: [false, true])
  func `a draft has a conflict if the removal took a value of its key, and not otherwise`(isAbsent: Bool) throws {
    let fixture = try Fixture()
    let cache = fixture.cache
    if !isAbsent { cache["k"] = 1 }
    let draft = cache.draft()
    draft["k"] = 2
    cache.removeAll(tagged: "other")
    #expect(draft.conflicts == (isAbsent ? [] : ["k"]))
    draft.discard()
  }

  @Test func `a value whose fetch began before the removal is not merged under a later one`() throws {
    try SeededSchedule.explore(seeds: 20) { executor in
      let fixture = try Fixture(on: executor) { configuration, _ in
        configuration = CacheConfiguration<Int>(merge: { $0 + $1 })
      }
      let cache = fixture.cache
      let gate = Gate()
      let load = Task(executorPreference: executor) {
        try await cache.value(forKey: "k") { _ in
          await gate.passUncancelled()
          return 100
        }
      }
      await gate.arrivals(atLeast: 1)
      cache.removeAll(tagged: "other")
      cache["k"] = 1
      gate.open()
      _ = try await load.value
      try #require(cache["k"] == 1)
      try #require(cache.checkInvariants() == [])
    }
  }

  @Test func `an update whose read of the second tier began before a removal runs again without the value`() throws {
    let tier = SmallTier()
    let store = try Store(
      secondTier: tier, memoryLimit: .mebibytes(1), configuration: .ignoringMemoryPressure(clock: ManualClock()))
    let cache = try store.cache("p", of: Int.self, keyedBy: String.self)
    cache["k"] = 1
    store.trimMemory(to: .bytes(0))
    let remove: @Sendable () -> Void = { cache.removeAll(tagged: "other") }
    tier.state.withLock { $0.duringRead = remove }
    var received: [Int?] = []
    cache.updateValue(forKey: "k") { value in
      received.append(value)
      value = (value ?? 10) + 1
    }
    #expect(received == [1, nil])
    #expect(cache["k"] == 11)
    #expect(cache.checkInvariants() == [])
  }
}
