import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

/// Bulk loads on real threads whose callers leave.
struct UnattendedFlightThreadsTests {
  @Test func `a key has one fetch at a time while callers of bulk loads and of single loads leave`() async throws {
    let cache = try Cache<String, Int>(costLimit: 1 << 20)
    // The thread that cancels can be preempted for long. Only a failing test waits to the end.
    let ledger = OverlapLedger(patience: 10_000_000)
    let keys = (0..<6).map { "k\($0)" }
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<8 {
        group.addTask {
          var generator = SeededGenerator(seed: UInt64(worker))
          for _ in 0..<400 {
            let wanted = keys.filter { _ in generator.next(below: 3) == 0 }
            let (yields, patience) = (generator.next(below: 30), generator.next(below: 30))
            let isSingle = generator.next(below: 4) == 0
            let load = Task {
              if isSingle, let key = wanted.first {
                _ = try await cache.load(key) { _ in
                  try await ledger.fetch([key], yields: yields)
                  return .returnOnly(1)
                }
              } else {
                _ = try await cache.load(keys: wanted) { contexts in
                  try await ledger.fetch(contexts.map(\.key), yields: yields)
                  return Dictionary(uniqueKeysWithValues: contexts.map { ($0.key, .returnOnly(1)) })
                }
              }
            }
            if generator.next(below: 3) > 0 {
              for _ in 0..<patience { await Task.yield() }
              load.cancel()
            }
            _ = await load.result
          }
        }
      }
    }
    while ledger.runningCount > 0 || cache.statistics.inProgressCount > 0 { await Task.yield() }
    #expect(ledger.overlaps == 0)
    #expect(cache.statistics.joins > 0 && cache.statistics.cancellations > 0)
    #expect(cache.checkInvariants() == [])
  }

  @Test func `a caller that joins while the last waiter leaves gets a value, and no flight stays`() async throws {
    let cache = try Cache<String, Int>(costLimit: 1 << 20)
    for round in 0..<2_000 {
      let started = Gate()
      let mayEnd = Switch<Bool>()
      let bulk = Task {
        try await cache.load(keys: ["a", "b"]) { contexts in
          started.open()
          // Unless it may end, the fetch ends only when it is cancelled.
          while !Task.isCancelled, mayEnd.peek() == nil, contexts[0].isStorable || contexts[1].isStorable {
            await Task.yield()
          }
          for _ in 0..<3 { await Task.yield() }
          let value = Task.isCancelled || mayEnd.peek() == nil ? -1 : 4
          return ["a": .returnOnly(value), "b": .returnOnly(value)]
        }
      }
      await started.passUncancelled()
      let other = Task { try await cache.load("b") { _ in .returnOnly(2) } }
      if round % 2 == 0 { bulk.cancel() }
      // The last waiters leave while this caller comes.
      let newcomer = Task { try await cache.load("a") { _ in .returnOnly(3) }?.value }
      if round % 2 != 0 { bulk.cancel() }
      other.cancel()
      for _ in 0..<round % 7 { await Task.yield() }
      if round % 3 == 0 {
        // If the newcomer joined, the fetch goes on for it alone, and ends by itself.
        mayEnd.set(true)
        let value = try await newcomer.value
        #expect(value == 3 || value == 4, "a caller that stayed joined a cancelled fetch")
      } else {
        // If the newcomer joined, only its own end ends the fetch.
        newcomer.cancel()
        let value = try? await newcomer.value
        #expect(value == nil || value == 3, "a caller joined a cancelled fetch")
      }
      _ = (await bulk.result, await other.result)
    }
    while cache.statistics.inProgressCount > 0 { await Task.yield() }
    #expect(cache.checkInvariants() == [])
  }
}
