import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore
@testable import CisternDisk

/// A small file whose pages are held by readers that end.
@Suite struct DiskRoomThreadsTests {
  private static func open(_ scratch: TemporaryDirectory, told: Told) throws -> DiskTier {
    var options = DiskOptions(
      limit: .kibibytes(256), layout: .tested, durability: .processCrash, commitInterval: .milliseconds(1))
    // The readers of these tests end after a bounded number of commits, regardless of the speed of the machine.
    options.readerPatience = .seconds(3600)
    options.retryInterval = .seconds(3600)
    return try DiskTier(directory: scratch.store, options: options) { report in
      told.reports.withLock { $0.append(report) }
    }
  }

  @Test(arguments: [1, 3])
  func `Readers that end do not degrade a store of the smallest size`(readerCount: Int) async throws {
    let scratch = TemporaryDirectory()
    let told = Told()
    let tier = try Self.open(scratch, told: told)
    let cache = try tier.cache(told: told)
    for number in 0..<20 { cache.put("k\(number)", value(number, size: 8000)) }
    try await tier.flush()
    let isDone = Switch<Bool>()
    await withTaskGroup(of: Void.self) { group in
      for reader in 0..<readerCount {
        group.addTask {
          var generator = SeededGenerator(seed: UInt64(reader))
          while isDone.peek() == nil {
            let key = Array("k\(Int.random(in: 0..<20, using: &generator))".utf8)
            let length = Int.random(in: 0..<4, using: &generator)
            cache.withRecord(forKey: key.rawSpan) { _, _ in
              // The snapshot lasts until some more commits have ended, or the writer thread waits.
              let target = tier.statistics.commits + length
              var turns = 0
              while tier.statistics.commits < target, turns < 2_000, isDone.peek() == nil { turns += 1 }
            }
            await Task.yield()
          }
        }
      }
      group.addTask {
        for number in 0..<400 {
          cache.put("k\(number % 20)", value(number, size: 8000))
          await cache.waitForRoom()
        }
        isDone.set(true)
      }
    }
    try await tier.flush()
    #expect(told.reportCodes == [])
    #expect(told.lost(.notWritten) == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }
}
