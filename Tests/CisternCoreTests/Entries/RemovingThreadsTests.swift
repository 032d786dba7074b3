import CisternTesting
import Testing

@testable import CisternCore

/// Removals from memory on real threads.
struct RemovingThreadsTests {
  @Test func `observers that register during sets and removals miss no change after their first one`() async throws {
    let cache = try Cache<Int, Int>(costLimit: 1_000)
    let writers = (0..<2).map { key in
      Task {
        // A key has one writer, so that its values and its absences alternate.
        while !Task.isCancelled {
          cache[key] = 1
          cache.removeValue(forKey: key)
          await Task.yield()
        }
      }
    }
    for key in 0..<2 {
      for _ in 0..<250 {
        var isPresent: [Bool] = []
        for await change in cache.updates(.key(key), buffering: .bounded(1_000_000)) {
          isPresent.append(change.value != nil)
          if isPresent.count == 20 { break }
        }
        #expect(zip(isPresent, isPresent.dropFirst()).allSatisfy { $0 != $1 })
      }
    }
    for writer in writers {
      writer.cancel()
      await writer.value
    }
    #expect(cache.statistics.memory.entryCount == 0)
    #expect(cache.checkInvariants() == [])
  }
}
