import Cistern
import CisternTestSupport
import Testing

/// Batches beside the close of their store, on real threads.
struct DiskBatchClosingThreadsTests {
  @Test func `a batch beside a close is whole on disk, or throws and is not on disk`() async throws {
    // The writers write until the close. On the shared pool, the close would come after jobs of all other tests.
    try await withTaskExecutorPreference(ThreadPerJob()) { try await self.closeBesideBatches() }
  }

  private func closeBesideBatches() async throws {
    let scratch = TemporaryDirectory()
    for round in 1...40 {
      let (store, one, two) = try open(scratch)
      let writers = (0..<3).map { writer in
        Task(executorPreference: ThreadPerJob()) { () -> Int in
          var taken = 0
          for number in 1... {
            do {
              if writer == 0 {
                try one.batch { batch in
                  for slot in 0..<2 { batch.setValue(number, forKey: "\(round) \(writer) \(slot)") }
                }
              } else {
                try store.batch { batch in
                  batch.setValue(number, forKey: "\(round) \(writer) 0", in: one)
                  batch.setValue(number, forKey: "\(round) \(writer) 1", in: two)
                }
              }
              taken = number
            } catch {
              guard (error as? CisternError)?.code == .storeClosed else { throw error }
              return taken
            }
          }
          return taken
        }
      }
      for _ in 0..<round { await Task.yield() }
      try await store.close()
      var taken: [Int] = []
      for writer in writers { taken.append(try await writer.value) }
      let (again, first, second) = try open(scratch)
      for (writer, number) in taken.enumerated() {
        let expected = number == 0 ? nil : number
        let other = writer == 0 ? first : second
        try #require(first["\(round) \(writer) 0"] == expected, "writer \(writer) in round \(round)")
        try #require(other["\(round) \(writer) 1"] == expected, "writer \(writer) in round \(round)")
      }
      try await again.close()
    }
  }

  /// Opens two caches without memory.
  private func open(_ scratch: TemporaryDirectory) throws -> (Store, Cache<String, Int>, Cache<String, Int>) {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.durability = .processCrash
    let store = try Store(
      directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(4), configuration: configuration)
    func cache(_ name: String) throws -> Cache<String, Int> {
      try store.cache(name, of: Int.self, keyedBy: String.self, configuration: .with { $0.tiers = .secondTierOnly })
    }
    return (store, try cache("one"), try cache("two"))
  }
}
