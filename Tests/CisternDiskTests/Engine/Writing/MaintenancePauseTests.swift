import CisternTestSupport
import Foundation
import LMDB
import Locking
import Synchronization
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Maintenance of a file that has no room for it.
@Suite struct MaintenancePauseTests {
  /// The transactions since an invalidation was staged.
  private struct Transactions: Sendable {
    var isCounted = false
    var count = 0
    var hasRoom = true
  }

  @Test func `maintenance without room is tried once, until a commit succeeds`() async throws {
    let scratch = TemporaryDirectory()
    let transactions = Guarded(Transactions())
    let faults = DiskFaults {
      transactions.withLock { transactions in
        guard transactions.isCounted else { return nil }
        transactions.count += 1
        // The first one commits the invalidation.
        return transactions.hasRoom || transactions.count == 1 ? nil : .mapFull
      }
    }
    let tier = try openTier(scratch, faults: faults)
    let cache = try tier.cache()
    for number in 0..<10 { cache.put("k\(number)", value(number, size: 100), tags: ["tag"]) }
    try await tier.flush()
    transactions.withLock {
      $0.isCounted = true
      $0.hasRoom = false
    }
    _ = cache.stageInvalidation(.tag("tag"))
    try await tier.flush()
    // Due maintenance has a turn after some commits, also after commits of nothing.
    for _ in 0..<4 * WriterState.commitsInSequence {
      _ = tier.engine.nextTicket()
      try await tier.flush()
    }
    #expect(transactions.withLock { $0.count } == 2)
    #expect(tier.engine.mode == .active)
    transactions.withLock { $0.hasRoom = true }
    // Nothing asks for the commit of this write, which therefore wakes the writer thread from its wait.
    while !tier.engine.writerIsIdle.load(ordering: .sequentiallyConsistent) { await Task.yield() }
    cache.put("later", bytes("later"))
    while !tier.engine.partitions.allSatisfy({ $0.invalidations.pending.isEmpty }) { await Task.yield() }
    #expect(cache.keys() == ["later"])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `maintenance without room is tried again after a pause`() async throws {
    let scratch = TemporaryDirectory()
    let failing = Switch<DiskFaults.Fault>()
    let isPurging = Switch<Bool>()
    var options = DiskOptions(limit: .mebibytes(1), layout: .tested, durability: .processCrash)
    options.retryInterval = .milliseconds(1)
    options.faults = DiskFaults {
      // The next transaction after the commit of the invalidation.
      if isPurging.peek() == true { return failing.take() }
      if failing.peek() != nil { isPurging.set(true) }
      return nil
    }
    let tier = try DiskTier(directory: scratch.store, options: options)
    let cache = try tier.cache()
    cache.put("k", bytes("k"), tags: ["tag"])
    try await tier.flush()
    failing.set(.mapFull)
    _ = cache.stageInvalidation(.tag("tag"))
    try await tier.purge()
    #expect(failing.peek() == nil)
    #expect(cache.keys() == [])
    try await tier.close()
  }

  @Test(arguments: [DiskFaults.Fault.mapFull, .outOfResources])
  func `a damaged record is removed although the first transaction for its removal fails`(
    fault: DiskFaults.Fault
  ) async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let next = Switch<DiskFaults.Fault>()
    let tier = try openTier(scratch, delivered: delivered, faults: DiskFaults { next.take() })
    let cache = try tier.cache(delivered: delivered)
    cache.put("sound", bytes("sound"))
    cache.put("damaged", value(1, size: 700))
    try await tier.flush()
    try damage(value(1, size: 700), in: scratch)
    next.set(fault)
    #expect(cache.get("damaged") == nil)
    while next.peek() != nil { await Task.yield() }
    // A commit ends the pause, and a flush the outage. Due maintenance then has a turn after some commits.
    for _ in 0..<2 * WriterState.commitsInSequence {
      cache.put("later", bytes("later"))
      try? await tier.flush()
    }
    #expect(delivered.lost(.damaged) == [bytes("damaged")])
    #expect(cache.keys() == ["sound", "later"])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  /// Changes a byte of every copy of the value in the open file.
  private func damage(_ value: [UInt8], in scratch: TemporaryDirectory) throws {
    let contents = try Data(contentsOf: scratch.dataFile)
    let file = try FileHandle(forUpdating: scratch.dataFile)
    var start = contents.startIndex
    while let range = contents.range(of: Data(value), in: start..<contents.endIndex) {
      try file.seek(toOffset: UInt64(range.lowerBound + 300))
      try file.write(contentsOf: Data([contents[range.lowerBound + 300] ^ 1]))
      start = range.upperBound
    }
    try file.close()
  }

  @Test func `a damaged file is replaced during a pause of maintenance`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, delivered: delivered)
    let cache = try tier.cache()
    cache.put("k", bytes("k"))
    try await tier.flush()
    let file = try #require(tier.engine.file)
    tier.engine.monitor.change { $0.maintenancePausedUntil = .max }
    let error = LMDBError(.corrupted, operation: "read a page", message: "a test reports it as damaged")
    tier.engine.noteReadFailure(error, of: file.environment)
    // Commits of nothing do not end the pause. Due maintenance has a turn after some of them.
    for _ in 0..<2 * WriterState.commitsInSequence {
      _ = tier.engine.nextTicket()
      try await tier.flush()
    }
    #expect(tier.engine.file !== file)
    #expect(delivered.reportCodes == [.setAside])
    #expect(cache.keys() == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }
}
