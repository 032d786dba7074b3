import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// Drafts of drafts over several caches, on real threads.
struct NestedStoreDraftThreadsTests {
  @Test func `a save never takes a part of what a nested draft saves at the same time`() async throws {
    let store = try Store(secondTier: FaultInjectingTier(commits: .immediate), memoryLimit: .mebibytes(1))
    let caches = try (0..<3).map { try store.cache("\($0)", of: Int.self, keyedBy: String.self) }
    let outer = store.draft()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        let inner = outer.draft()
        for number in 1...3_000 {
          for cache in number % 2 == 0 ? caches : caches.reversed() { inner["a", in: cache] = number }
          try inner.save(onConflict: .mine)
        }
      }
      group.addTask {
        for _ in 0..<3_000 {
          // No other task writes the caches.
          try outer.save()
          try #require(Set(caches.map { $0["a"] }).count == 1)
        }
      }
      try await group.waitForAll()
    }
    try outer.save()
    #expect(caches.allSatisfy { $0["a"] == 3_000 })
    outer.discard()
    #expect(caches.allSatisfy { $0.checkInvariants() == [] })
  }
}
