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
  /// The transactions since an invalidation was staged. The first one commits it.
  private final class Transactions: Sendable {
    private let state = Guarded((isCounted: false, count: 0))
    var count: Int { state.withLock { $0.count } }

    func beginCounting() { state.withLock { $0.isCounted = true } }

    /// Returns faults of the transactions with certain numbers. The first number is 1.
    func faults(
      _ fault: DiskFaults.Fault = .mapFull, of fails: @escaping @Sendable (Int) -> Bool
    ) -> DiskFaults {
      DiskFaults { [self] in
        state.withLock { state in
          guard state.isCounted else { return nil }
          state.count += 1
          return fails(state.count) ? fault : nil
        }
      }
    }
  }

  /// A map that is full for one attempt can have pages that LMDB reuses after the next commits.
  @Test(arguments: [1, 3], [DiskFaults.Fault.mapFull, .noSpace])
  func `maintenance without room lets two commits pass, and is tried again at once`(
    failures: Int, fault: DiskFaults.Fault
  ) async throws {
    let scratch = TemporaryDirectory()
    let transactions = Transactions()
    // Two empty changes follow each failed attempt.
    let faults = transactions.faults(fault) { $0 % 3 == 2 && $0 < 3 * failures }
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, delivered: delivered, faults: faults)
    let cache = try tier.cache()
    for number in 0..<10 { cache.put("k\(number)", value(number, size: 100), tags: ["tag"]) }
    try await tier.flush()
    transactions.beginCounting()
    _ = cache.stageInvalidation(.tag("tag"))
    try await tier.purge()
    #expect(transactions.count > 1 + 3 * failures)
    #expect(cache.keys() == [])
    #expect(tier.engine.mode == .active)
    #expect(!delivered.reportCodes.contains(.degraded))
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  /// The walk examines the records in several calls, and finds none of them. Only the end of the invalidation needs a
  /// transaction.
  @Test func `maintenance pauses after many attempts without room for the end of a walk`() async throws {
    let scratch = TemporaryDirectory()
    let transactions = Transactions()
    let isFull = Switch<Bool>()
    // Two empty changes follow each failed attempt.
    let tier = try openTier(
      scratch, interval: .unreachable, faults: transactions.faults { $0 % 3 == 2 && isFull.peek() == true })
    let cache = try tier.cache()
    for number in 0..<2500 { cache.put("k\(number)", value(number, size: 100)) }
    try await tier.flush()
    isFull.set(true)
    transactions.beginCounting()
    _ = cache.stageInvalidation(.tag("tag"))
    try await tier.flush()
    while tier.engine.monitor.withLock({ $0.maintenancePausedUntil == nil }) { await Task.yield() }
    // The commit, sixteen attempts with two empty changes each, and the last attempt.
    #expect(transactions.count == 1 + 16 * 3 + 1)
    isFull.set(false)
    cache.put("later", bytes("later"))
    try await tier.purge()
    #expect(cache.keys().count == 2501)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  /// A commit needs neither a reader slot nor a file descriptor.
  @Test func `maintenance without resources pauses, and does not degrade the store`() async throws {
    let scratch = TemporaryDirectory()
    let (transactions, lacksResources) = (Transactions(), Switch<Bool>())
    let delivered = DeliveredReports()
    let tier = try openTier(
      scratch, delivered: delivered, interval: .unreachable,
      faults: transactions.faults(.outOfResources) { $0 > 1 && lacksResources.peek() == true })
    let cache = try tier.cache()
    for number in 0..<10 { cache.put("k\(number)", value(number, size: 100), tags: ["tag"]) }
    try await tier.flush()
    lacksResources.set(true)
    transactions.beginCounting()
    _ = cache.stageInvalidation(.tag("tag"))
    try await tier.flush()
    let engine = tier.engine
    while engine.mode == .active, engine.monitor.withLock({ $0.maintenancePausedUntil == nil }) { await Task.yield() }
    #expect(engine.mode == .active)
    lacksResources.set(false)
    cache.put("later", bytes("later"))
    try await tier.purge()
    #expect(cache.keys() == ["later"])
    #expect(delivered.reportCodes == [])
    try await tier.close()
  }

  /// The map counts as full as long as another process has a reader slot, which only its clearing ends.
  @Test func `maintenance pauses shortly for another process's read, and goes on when that process was killed`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let holder = try ChildProcess("hold", scratch.store, "\(1 << 20)", "processCrash")
    #expect(holder.readLine() == "holding")
    let transactions = Transactions()
    let opened = Switch<DiskTier>()
    let tier = try openTier(
      scratch, limit: .mebibytes(1), interval: .unreachable,
      faults: transactions.faults { number in
        guard number > 1, let file = opened.peek()?.engine.file else { return false }
        return (try? file.environment.readers().contains { $0.process != getpid() }) ?? true
      })
    opened.set(tier)
    defer { opened.set(nil) }
    let cache = try tier.cache()
    cache.put("tagged", bytes("value"), tags: ["tag"])
    try await tier.flush()
    transactions.beginCounting()
    _ = cache.stageInvalidation(.tag("tag"))
    try await tier.flush()
    while transactions.count < 4 { await Task.yield() }
    #expect(tier.engine.mode == .active)
    _ = holder.kill()
    // No commit ends the pause. The longest one is a second.
    while tier.engine.partitions.contains(where: { !$0.invalidations.pending.isEmpty }) { await Task.yield() }
    #expect(!cache.keys().contains("tagged"))
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: [0, 1])
  func `many damaged records are removed in small transactions, once each`(failures: Int) async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let transactions = Transactions()
    let tier = try openTier(
      scratch, limit: .mebibytes(1), delivered: delivered, interval: .unreachable,
      faults: transactions.faults { $0 <= failures })
    #expect(tier.engine.limits.pagesPerTransaction < 8)
    let cache = try tier.cache(delivered: delivered)
    for number in 0..<20 { cache.put("k\(number)", value(number, size: 700)) }
    try await tier.flush()
    for number in 0..<10 { try damage(value(number, size: 700), in: scratch) }
    transactions.beginCounting()
    // All of them are reported before the first transaction.
    tier.engine.monitor.change { $0.maintenancePausedUntil = .max }
    for number in 0..<10 { #expect(cache.get("k\(number)") == nil) }
    tier.engine.monitor.change { $0.maintenancePausedUntil = nil }
    while delivered.lost(.damaged).count < 10 { await Task.yield() }
    try await tier.flush()
    // Two empty changes follow a failed attempt.
    #expect(transactions.count == 10 + failures * 3)
    #expect(cache.keys() == Set((10..<20).map { "k\($0)" }))
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: [DiskFaults.Fault.mapFull, .noSpace])
  func `maintenance without room even for an empty change pauses until a commit succeeds`(
    fault: DiskFaults.Fault
  ) async throws {
    let scratch = TemporaryDirectory()
    let transactions = Transactions()
    let isFull = Switch<Bool>()
    let tier = try openTier(scratch, faults: transactions.faults(fault) { $0 > 1 && isFull.peek() == true })
    let cache = try tier.cache()
    for number in 0..<10 { cache.put("k\(number)", value(number, size: 100), tags: ["tag"]) }
    try await tier.flush()
    isFull.set(true)
    transactions.beginCounting()
    _ = cache.stageInvalidation(.tag("tag"))
    try await tier.flush()
    // Due maintenance has a turn after some commits, also after commits of nothing.
    for _ in 0..<4 * WriterState.commitsInSequence {
      _ = tier.engine.nextTicket()
      try await tier.flush()
    }
    // The commit of the invalidation, an attempt, and an empty change.
    #expect(transactions.count == 3)
    #expect(tier.engine.mode == .active)
    isFull.set(false)
    // Nothing asks for the commit of this write, which therefore wakes the writer thread from its wait.
    while !tier.engine.writerIsIdle.load(ordering: .sequentiallyConsistent) { await Task.yield() }
    cache.put("later", bytes("later"))
    while !tier.engine.partitions.allSatisfy({ $0.invalidations.pending.isEmpty }) { await Task.yield() }
    #expect(cache.keys() == ["later"])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `maintenance without room even for an empty change is tried again after a pause`() async throws {
    let scratch = TemporaryDirectory()
    let transactions = Transactions()
    var options = DiskOptions(limit: .mebibytes(1), layout: .tested, durability: .processCrash)
    options.retryInterval = .milliseconds(1)
    options.faults = transactions.faults { (2...3).contains($0) }
    let tier = try DiskTier(directory: scratch.store, options: options)
    let cache = try tier.cache()
    cache.put("k", bytes("k"), tags: ["tag"])
    try await tier.flush()
    transactions.beginCounting()
    _ = cache.stageInvalidation(.tag("tag"))
    try await tier.purge()
    #expect(transactions.count > 3)
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
