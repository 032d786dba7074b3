import CisternCore
import CisternTestSupport
import CisternTesting
import Locking
import Testing

/// Batches over several caches, on real threads.
struct StoreBatchThreadsTests {
  @Test(arguments: [ByteCount.mebibytes(1), .bytes(64)])
  func `no thread reads a part of a batch over several caches, and batches in any order end`(
    memoryLimit: ByteCount
  ) async throws {
    let store = try Store(secondTier: FaultInjectingTier(commits: .immediate), memoryLimit: memoryLimit)
    let caches = try (0..<4).map { try store.cache("\($0)", of: Int.self, keyedBy: String.self) }
    let newest = Newest()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<3 {
        group.addTask {
          for _ in 0..<150 {
            // The numbers rise in the order of the batches.
            try newest.number.withLock { newest in
              newest += 1
              let number = newest
              try store.batch { batch in
                for cache in writer % 2 == 0 ? caches : caches.reversed() {
                  batch.setValue(number, forKey: "a", in: cache)
                }
              }
            }
            // The batches of different writers have the caches in different orders.
            try store.batch { batch in
              for cache in writer == 0 ? caches : caches.reversed() { batch.setValue(writer, forKey: "b", in: cache) }
            }
          }
        }
      }
      for _ in 0..<2 {
        group.addTask {
          for round in 0..<600 {
            let order = round % 2 == 0 ? caches : caches.reversed()
            var last = 0
            for cache in order + order {
              let number = cache["a"] ?? 0
              try #require(number >= last)
              last = number
            }
          }
        }
      }
      group.addTask {
        for _ in 0..<100 {
          store.removeAll(tagged: "none")
          caches[1].removeAll(tagged: "none")
          try caches[2].batch { $0.removeValue(forKey: "c") }
        }
      }
      try await group.waitForAll()
    }
    for cache in caches { #expect(cache["a"] == 450) }
    #expect(Set(caches.map { $0["b"] }).count == 1)
    #expect(caches.allSatisfy { $0.checkInvariants() + $0.watchFindings == [] })
  }
}

/// The newest number of a batch.
private final class Newest: Sendable {
  let number = Guarded(0)
}
