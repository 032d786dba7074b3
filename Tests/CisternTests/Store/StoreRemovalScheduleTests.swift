import Cistern
import CisternTestSupport
import CisternTesting
import Locking
import Testing

@testable import CisternCore

/// Removals by tag from a whole store beside writes, loads, evictions, losses and the close.
@Suite struct StoreRemovalScheduleTests {
  /// Numbers for values, and the greatest number that a removal has ended.
  private final class Numbers: Sendable {
    private let state = Guarded((newest: 0, removed: 0))

    func next() -> Int {
      state.withLock { state in
        state.newest += 1
        return state.newest
      }
    }

    var newest: Int { state.withLock { $0.newest } }
    var removed: Int { state.withLock { $0.removed } }

    /// Notes that a removal has returned, which began when this number was the newest.
    func noteRemoval(of number: Int) { state.withLock { $0.removed = max($0.removed, number) } }
  }

  @Test(arguments: [FaultInjectingTier.CommitMode.immediate, .onDemand], [false, true])
  func `no value from before a removal is read after it`(
    commits: FaultInjectingTier.CommitMode, closes: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 300) { executor in
      let tier = FaultInjectingTier(commits: commits, taskExecutor: executor)
      let store = try Store(
        secondTier: tier, memoryLimit: .bytes(120),
        configuration: .ignoringMemoryPressure(clock: ManualClock(), taskExecutor: executor))
      let names = ["one", "two", "three"]
      let caches = try names.prefix(2).map { try store.cache($0, of: Int.self, keyedBy: String.self) }
      let numbers = Numbers()
      let (log, keys) = (ChangeFold(), ["a", "b", "c", "d"])
      let token = caches[0].observe { log.add($0) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (index, cache) in caches.enumerated() {
          group.addTask(executorPreference: executor) {
            for key in keys + keys {
              // The number is older than the write: a removal in between ends a smaller number only.
              let number = numbers.next()
              cache.setValue(number, forKey: key, tags: ["news"])
              await Task.yield()
              let removed = numbers.removed
              if let value = cache[keys[(number + index) % 4]] { try #require(value > removed) }
            }
          }
          group.addTask(executorPreference: executor) {
            for key in keys {
              let removed = numbers.removed
              let value = try await cache.value(forKey: key, tags: ["news"]) { _ in numbers.next() }
              try #require(value > removed)
              await Task.yield()
              cache.trim(toCost: 0)
            }
          }
        }
        group.addTask(executorPreference: executor) {
          for _ in 0..<3 {
            for _ in 0..<executor.seed % 5 { await Task.yield() }
            let newest = numbers.newest
            store.removeAll(tagged: "news")
            numbers.noteRemoval(of: newest)
            await Task.yield()
            store.removeAll(tagged: "other")
          }
        }
        group.addTask(executorPreference: executor) {
          for _ in 0..<executor.seed % 11 { await Task.yield() }
          guard let late = try? store.cache("three", of: Int.self, keyedBy: String.self) else { return }
          late.setValue(numbers.next(), forKey: "a", tags: ["news"])
          await Task.yield()
          let removed = numbers.removed
          if let value = late["a"] { try #require(value > removed) }
        }
        group.addTask(executorPreference: executor) {
          for key in keys {
            tier.evict(key, from: "one")
            await Task.yield()
            tier.commit()
          }
          if executor.seed % 3 == 0 { tier.requireRemovalOfAll(in: "two") }
          if executor.seed % 3 == 1 { tier.loseFile(of: "one") }
          if closes { try? await store.close() }
        }
        try await group.waitForAll()
      }
      caches[0]["end"] = 0
      while log.end == nil { await Task.yield() }
      for cache in caches { try #require(cache.checkInvariants() == []) }
      for key in keys where caches[0].isInMemory(key) { try #require(log.contents[key] == caches[0][key]) }
      token.cancel()
    }
  }
}
