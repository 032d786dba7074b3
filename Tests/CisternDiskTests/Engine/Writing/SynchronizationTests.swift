import CisternTestSupport
import CisternTesting
import Foundation
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Commits that must be on the device before their callers resume, while transactions or write-throughs fail.
@Suite struct SynchronizationTests {
  private let scratch = TemporaryDirectory()
  /// The fault of each transaction.
  private let transactionFault = Switch<DiskFaults.Fault>()
  /// The fault of each write-through.
  private let synchronizationFault = Switch<DiskFaults.Fault>()
  private let transactions = Recorder<Void>()
  private let synchronizations = Recorder<Void>()
  private let delivered = DeliveredReports()

  /// Opens a tier that commits only if a caller waits.
  private func openTier(
    isFull: Bool = false, failing isFailing: @escaping @Sendable (Int) -> Bool = { _ in false }
  ) throws -> DiskTier {
    let (transactions, transactionFault) = (transactions, transactionFault)
    var faults = DiskFaults {
      transactions.record(())
      return isFailing(transactions.count) ? .inputOutput : transactionFault.peek()
    }
    faults.isDeviceFull = { isFull }
    faults.atSynchronization = { [synchronizations, synchronizationFault] in
      synchronizations.record(())
      return synchronizationFault.peek()
    }
    return try CisternTestSupport.openTier(
      scratch, limit: .mebibytes(4), durability: .powerCut, delivered: delivered, interval: .unreachable, faults: faults
    )
  }

  /// Stages writes that one transaction cannot hold, and returns whether each is on disk.
  private func write(_ tier: DiskTier) async throws -> [Bool] {
    let cache = try tier.cache()
    let tickets = (0..<600).compactMap { number -> CommitTicket? in
      guard case .staged(let ticket) = cache.put("k\(number)", value(number, size: 1000)) else { return nil }
      return ticket
    }
    return await withTaskGroup(of: Bool.self) { group in
      for ticket in tickets { group.addTask { await Self.isCommitted(ticket, in: cache) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  @discardableResult
  private func stage(_ key: String, in cache: any TransactionalPartition) throws -> CommitTicket {
    guard case .staged(let ticket) = cache.put(key, bytes("value")) else { throw Broken() }
    return ticket
  }

  /// Commits staged writes without a waiter.
  private func commit(through ticket: CommitTicket, in tier: DiskTier) async {
    tier.engine.monitor.change { $0.isFull = true }
    while tier.engine.progress.withLock({ $0.settled }) < ticket { await Task.yield() }
  }

  private static func isCommitted(_ ticket: CommitTicket, in cache: any TransactionalPartition) async -> Bool {
    do {
      try await cache.waitForCommit(ticket)
      return true
    } catch {
      return false
    }
  }

  @Test(arguments: [DiskFaults.Fault?.none, .inputOutput])
  func `a group whose second transaction fails confirms the writes of the first one only after a write-through`(
    fault: DiskFaults.Fault?
  ) async throws {
    let tier = try openTier { $0 == 2 || $0 > 3 }
    synchronizationFault.set(fault)
    let results = try await write(tier)
    #expect(tier.engine.mode == .degraded)
    #expect(results.contains(false) && synchronizations.count > 0)
    // Without a write-through, a power cut could undo the first transaction.
    #expect(results.contains(true) == (fault == nil))
    try? await tier.close()
  }

  /// The write-through of the second transaction can have failed because of the meta page of the first one. The system
  /// reports that only once. The device can be full at the same time.
  @Test(arguments: [false, true])
  func `a write-through after a failure confirms earlier commits only if it follows a new one`(
    isFull: Bool
  ) async throws {
    let tier = try openTier(isFull: isFull) { $0 > 1 }
    let results = try await write(tier)
    #expect(!results.contains(true))
    #expect(tier.engine.mode == .degraded)
    try? await tier.close()
  }

  @Test func `a commit that a retry has written through is confirmed, although the next group fails`() async throws {
    let tier = try openTier { $0 == 2 || $0 > 3 }
    let cache = try tier.cache()
    let first = try stage("a", in: cache)
    await commit(through: first, in: tier)
    await commit(through: try stage("b", in: cache), in: tier)
    #expect(tier.engine.mode == .degraded)
    // The wait asks for a retry. Its empty change and its write-through succeed, and the removal of "b" fails.
    #expect(await Self.isCommitted(first, in: cache))
    #expect(synchronizations.count == 1 && transactions.count > 3)
    try? await tier.close()
  }

  @Test(arguments: [false, true])
  func `the report of a failed write-through tells whether the device is full`(isFull: Bool) async throws {
    let tier = try openTier(isFull: isFull)
    try stage("k", in: tier.cache())
    synchronizationFault.set(.inputOutput)
    await #expect(throws: CisternError.self) { try await tier.flush() }
    let reports = delivered.reports.withLock { $0 }
    #expect(reports.map(\.code) == [.degraded])
    let cause = reports.first?.cause as? LMDBError
    #expect(cause?.code == (isFull ? LMDBError.Code.noSpace : .ioError))
    synchronizationFault.set(nil)
    try? await tier.close()
  }

  @Test func `the next opening checks a file whose write-through failed, although a later one succeeded`() async throws
  {
    var tier = try openTier()
    try stage("k", in: tier.cache())
    synchronizationFault.set(.inputOutput)
    await #expect(throws: CisternError.self) { try await tier.flush() }
    synchronizationFault.set(nil)
    try await tier.flush()
    #expect(tier.engine.mode == .active)
    try await tier.close()
    tier = try openTier()
    #expect(tier.engine.counters.pagesChecked.load(ordering: .relaxed) > 0)
    #expect(try tier.cache().get("k") == bytes("value"))
    try await tier.close()
    tier = try openTier()
    #expect(tier.engine.counters.pagesChecked.load(ordering: .relaxed) == 0)
    try await tier.close()
  }

  @Test func `the next opening checks a file whose write-through failed while the tier was degraded`() async throws {
    var tier = try openTier()
    let cache = try tier.cache()
    await commit(through: try stage("k", in: cache), in: tier)
    transactionFault.set(.mapFull)
    synchronizationFault.set(.inputOutput)
    let other = try stage("other", in: cache)
    #expect(await !Self.isCommitted(other, in: cache))
    #expect(tier.engine.mode == .degraded && synchronizations.count == 1)
    transactionFault.set(nil)
    synchronizationFault.set(nil)
    try? await tier.close()
    tier = try openTier()
    #expect(tier.engine.counters.pagesChecked.load(ordering: .relaxed) > 0)
    #expect(try tier.cache().get("k") == bytes("value"))
    try await tier.close()
  }

  @Test func `a retry whose write-through fails makes no second one`() async throws {
    let tier = try openTier()
    let cache = try tier.cache()
    let ticket = try stage("k", in: cache)
    await commit(through: ticket, in: tier)
    transactionFault.set(.inputOutput)
    // Until its end, the failed commit could still write through for the flush below.
    await commit(through: try stage("other", in: cache), in: tier)
    #expect(tier.engine.mode == .degraded)
    transactionFault.set(nil)
    synchronizationFault.set(.inputOutput)
    #expect(synchronizations.count == 0)
    await #expect(throws: CisternError.self) { try await tier.flush() }
    #expect(synchronizations.count == 1)
    try? await tier.close()
  }

  @Test func `a retry that fails tries its empty commit once`() async throws {
    let tier = try openTier()
    let cache = try tier.cache()
    let ticket = try stage("k", in: cache)
    await commit(through: ticket, in: tier)
    transactionFault.set(.inputOutput)
    await commit(through: try stage("other", in: cache), in: tier)
    #expect(tier.engine.mode == .degraded)
    let count = transactions.count
    await #expect(throws: CisternError.self) { try await tier.flush() }
    #expect(transactions.count == count + 1)
    #expect(await !Self.isCommitted(ticket, in: cache))
    try? await tier.close()
  }

  @Test func `a caller that waits after a failed write-through gets its error`() async throws {
    let tier = try openTier()
    let cache = try tier.cache()
    let early = try stage("early", in: cache)
    let waiting = try stage("waiting", in: cache)
    synchronizationFault.set(.inputOutput)
    #expect(await !Self.isCommitted(waiting, in: cache))
    #expect(await !Self.isCommitted(early, in: cache))
    #expect(tier.engine.mode == .degraded)
    // The device works again. The writes are in the file, but may not be on the device.
    synchronizationFault.set(nil)
    try await tier.engine.waitForCommit(tier.engine.nextTicket(), includingEarlier: true)
    #expect(await !Self.isCommitted(early, in: cache))
    #expect(tier.engine.mode == .active)
    try await tier.close()
  }

  @Test(arguments: [DiskFaults.Fault.inputOutput, .mapFull])
  func `a commit without a waiter is not confirmed by the failed retries of a later one`(
    fault: DiskFaults.Fault
  ) async throws {
    let tier = try openTier()
    let cache = try tier.cache()
    let ticket = try stage("k", in: cache)
    await commit(through: ticket, in: tier)
    transactionFault.set(fault)
    synchronizationFault.set(.inputOutput)
    cache.put("other", bytes("value"))
    tier.engine.monitor.change { $0.isFull = true }
    while tier.engine.mode == .active { await Task.yield() }
    #expect(synchronizations.count == 0)
    await #expect(throws: CisternError.self) { try await tier.flush() }
    #expect(await !Self.isCommitted(ticket, in: cache))
    try? await tier.close()
  }

  @Test func `a flush after the recovery of the disk waits for the write-through of earlier removals`() async throws {
    let transactionFault = transactionFault
    var options = DiskOptions(
      limit: .mebibytes(4), layout: .tested, durability: .powerCut, commitInterval: .unreachable)
    options.retryInterval = .milliseconds(1)
    options.faults = DiskFaults { transactionFault.peek() }
    options.faults.atSynchronization = { [synchronizations] in
      synchronizations.record(())
      return nil
    }
    let tier = try DiskTier(directory: scratch.store, options: options) { _ in }
    let cache = try tier.cache()
    cache.put("k", bytes("value"))
    try await tier.flush()
    transactionFault.set(.inputOutput)
    cache.remove("k")
    tier.engine.monitor.change { $0.isFull = true }
    while tier.engine.mode == .active { await Task.yield() }
    // A retry that is due settles the removal, which stays staged.
    let newest = tier.engine.newestTicket
    while tier.engine.progress.withLock({ $0.settled }) < newest { await Task.yield() }
    transactionFault.set(nil)
    while tier.engine.mode != .active || tier.statistics.stagedCount > 0 { await Task.yield() }
    let count = synchronizations.count
    try await tier.flush()
    #expect(synchronizations.count > count)
    #expect(cache.get("k") == nil)
    try await tier.close()
  }

  @Test func `a commit without a waiter is not confirmed after its file was replaced`() async throws {
    let tier = try openTier()
    let cache = try tier.cache()
    let ticket = try stage("k", in: cache)
    await commit(through: ticket, in: tier)
    try FileManager.default.removeItem(atPath: scratch.store + "/" + DiskDirectory.data)
    cache.put("other", bytes("value"))
    await #expect(throws: CisternError.self) { try await tier.flush() }
    #expect(cache.get("k") == nil)
    #expect(await !Self.isCommitted(ticket, in: cache))
    try await tier.flush()
    #expect(cache.get("other") == bytes("value"))
    try await tier.close()
  }

  @Test func `a commit without a waiter is not confirmed after an older copy has replaced its file`() async throws {
    let tier = try openTier()
    let cache = try tier.cache()
    cache.put("first", bytes("value"))
    try await tier.flush()
    let older = try Data(contentsOf: scratch.dataFile)
    let ticket = try stage("k", in: cache)
    await commit(through: ticket, in: tier)
    try older.write(to: scratch.dataFile, options: .atomic)
    cache.put("other", bytes("value"))
    await #expect(throws: CisternError.self) { try await tier.flush() }
    #expect(cache.get("first") == bytes("value") && cache.get("k") == nil)
    #expect(await !Self.isCommitted(ticket, in: cache))
    try await tier.flush()
    #expect(cache.get("other") == bytes("value"))
    try await tier.close()
  }
}
