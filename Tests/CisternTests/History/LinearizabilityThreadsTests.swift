import Cistern
import CisternTesting
import CisternTestSupport
import Foundation
import Testing

/// Searches for an order that explains the results of real threads on few keys. If all values fit in memory, this is
/// stricter than a check for stale reads: no value is lost, and none is fetched twice.
@Suite(.serialized)
struct LinearizabilityThreadsTests {
  /// The number of operations of each worker. `CISTERN_OPERATIONS` overrides it.
  private static let operationCount =
    ProcessInfo.processInfo.environment["CISTERN_OPERATIONS"].flatMap { Int($0) } ?? 2_000

  @Test(arguments: [(1_000_000, false), (3, true)])
  func `in memory each key is a register that forgets only for lack of space`(
    limit: Int, forgets: Bool
  ) async throws {
    let cache = try Cache<String, Int>(costLimit: limit)
    try await check(cache, KeyUser.Habits(), forgets: forgets)
    #expect(cache.checkInvariants() == [])
  }

  // No loads: a load that a write overtakes between memory and disk fetches for the callers that joined it,
  // concurrently with another load. No invalidations either: a value that is written while an invalidation moves from
  // one tier to the other may count as older on disk. Its eviction from memory then loses it.
  @Test func `over a disk with space each key is a register that forgets nothing, whatever memory evicts`()
    async throws
  {
    let scratch = TemporaryDirectory()
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
          // These are separate threads beside the pool's. The system can preempt them anywhere.
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
