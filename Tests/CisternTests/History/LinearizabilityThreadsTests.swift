import Cistern
import CisternTesting
import Foundation
import Testing

/// Real threads on few keys, and for what they saw an order that explains it. Where everything fits, that is stricter
/// than "nothing stale": no value is lost, and none is fetched twice.
@Suite(.serialized)
struct LinearizabilityThreadsTests {
  /// Of each worker. `CISTERN_OPERATIONS` sets another number.
  private static let operationCount =
    ProcessInfo.processInfo.environment["CISTERN_OPERATIONS"].flatMap { Int($0) } ?? 2_000

  @Test(arguments: [(1_000_000, false), (3, true)])
  func `in memory each key is a register, and forgets only where there is no room`(
    limit: Int, forgets: Bool
  ) async throws {
    let cache = try Cache<String, Int>(costLimit: limit)
    try await check(cache, KeyUser.Habits(), forgets: forgets)
    #expect(cache.checkInvariants() == [])
  }

  // Without loads: one that is overtaken between memory and disk fetches for those who joined it, beside another. And
  // without invalidations: what is written while one is on its way from one tier to the other may count as older on
  // disk, and so be forgotten with its eviction from memory.
  @Test func `over a disk with room each key is a register that forgets nothing, whatever memory evicts`()
    async throws
  {
    let scratch = Scratch()
    let store = try Store(directory: scratch.path, memoryLimit: .bytes(30), diskLimit: .mebibytes(8))
    let cache = try store.cache("numbers", of: Int.self, keyedBy: String.self)
    try await check(cache, KeyUser.Habits(loads: false, trims: true, invalidates: false), forgets: false)
    #expect(cache.checkInvariants() == [])
    try await store.close()
  }

  private func check(_ cache: Cache<String, Int>, _ habits: KeyUser.Habits, forgets: Bool) async throws {
    let recorder = KeyRecorder()
    await withTaskGroup { group in
      for worker in 0..<6 {
        let generator = SeededGenerator(seed: UInt64(worker))
        let user = KeyUser(cache: cache, recorder: recorder, generator: generator, habits: habits)
        if worker < 4 {
          group.addTask { await user.work(Self.operationCount) }
        } else {
          // Threads of their own, beside the pool's: they are interrupted anywhere.
          group.addTask {
            await withCheckedContinuation { continuation in
              Thread {
                user.workAlone(Self.operationCount)
                continuation.resume()
              }.start()
            }
          }
        }
      }
    }
    while cache.statistics.inProgressCount > 0 { await Task.yield() }
    for (key, history) in recorder.histories.sorted(by: { $0.key < $1.key }) {
      let verdict = LinearizabilityChecker.check(
        history, against: KeyModel(forgets: forgets))
      #expect(verdict.isLinearizable, "\(key), of \(history.count) operations: \(verdict)")
    }
  }
}
