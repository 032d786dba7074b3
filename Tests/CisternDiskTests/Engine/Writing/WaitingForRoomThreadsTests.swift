import CisternTestSupport
import Foundation
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Writes above the limits of staging, on threads for which the writer thread can wait.
@Suite struct WaitingForRoomThreadsTests {
  /// Stages more than the limit, and then waits for room.
  private static func crowd(_ cache: any TransactionalPartition, of tier: DiskTier) {
    let size = 10_000
    for number in 0...2 * tier.engine.limits.stagedBytes / size { cache.put("k\(number)", value(number, size: size)) }
    cache.waitForRoom()
  }

  /// Runs `body` in a read of the record "read", on a thread of its own.
  private static func read(_ cache: any TransactionalPartition, _ body: @escaping @Sendable () -> Void) async {
    await Task.detached(executorPreference: ThreadPerJob()) {
      let key = bytes("read")
      cache.withRecord(forKey: key.rawSpan) { _, _ in body() }
    }.value
  }

  private static func tier(
    _ scratch: TemporaryDirectory, delivered: DeliveredReports
  ) async throws -> (DiskTier, any TransactionalPartition) {
    let tier = try openTier(scratch, limit: .mebibytes(1), delivered: delivered)
    let cache = try tier.cache()
    cache.put("read", bytes("read"))
    try await tier.flush()
    return (tier, cache)
  }

  @Test
  func `a read that writes above the limit ends while the writer thread waits for it to replace the file`() async throws
  {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let (tier, cache) = try await Self.tier(scratch, delivered: delivered)
    await Self.read(cache) {
      // The next commit opens another file, and first waits for the readers of this one.
      try? FileManager.default.removeItem(at: scratch.dataFile)
      Self.crowd(cache, of: tier)
    }
    try await tier.flush()
    #expect(delivered.reportCodes == [.filesReplaced])
    #expect(cache.get("k1") == value(1, size: 10_000))
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test
  func `two reads that each write above the limit of the other store end while both files are replaced`() async throws {
    let (firstScratch, secondScratch) = (TemporaryDirectory(), TemporaryDirectory())
    let delivered = DeliveredReports()
    let (first, firstCache) = try await Self.tier(firstScratch, delivered: delivered)
    let (second, secondCache) = try await Self.tier(secondScratch, delivered: delivered)
    let arrivals = Monitor(0)
    let meet: @Sendable () -> Void = {
      arrivals.change { $0 += 1 }
      arrivals.wait { $0 == 2 ? () : nil }
    }
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        await Self.read(firstCache) {
          try? FileManager.default.removeItem(at: firstScratch.dataFile)
          meet()
          Self.crowd(secondCache, of: second)
        }
      }
      group.addTask {
        await Self.read(secondCache) {
          try? FileManager.default.removeItem(at: secondScratch.dataFile)
          meet()
          Self.crowd(firstCache, of: first)
        }
      }
    }
    for tier in [first, second] {
      try await tier.flush()
      try await tier.close()
    }
    #expect(delivered.reportCodes == [.filesReplaced, .filesReplaced])
  }

  @Test
  func `a report handler on the writer thread does not wait for room that only this thread can make`() async throws {
    let scratch = TemporaryDirectory()
    let failing = Switch<DiskFaults.Fault>()
    let subject = Switch<(tier: DiskTier, cache: any TransactionalPartition)>()
    var options = DiskOptions(limit: .mebibytes(1), layout: .tested, durability: .processCrash)
    options.retryInterval = .unreachable
    options.faults = DiskFaults { failing.take() }
    let isOnWriterThread = Switch<Bool>()
    let tier = try DiskTier(directory: scratch.store, options: options) { _ in
      guard let (tier, cache) = subject.take() else { return }
      isOnWriterThread.set(Writer.current != nil)
      Self.crowd(cache, of: tier)
    }
    let cache = try tier.cache()
    subject.set((tier, cache))
    failing.set(.corrupted)
    cache.put("k", bytes("k"))
    try await tier.flush()
    #expect(isOnWriterThread.peek() == true)
    try await tier.flush()
    #expect(cache.get("k1") == value(1, size: 10_000))
    try await tier.close()
  }
}
