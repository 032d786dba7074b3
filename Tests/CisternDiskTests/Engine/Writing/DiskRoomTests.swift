import CisternTestSupport
import Foundation
import LMDB
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Writes for which the device or the file has no room.
@Suite struct DiskRoomTests {
  @Test func `a write on a full device evicts records, if that makes enough room`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let failing = Switch<DiskFaults.Fault>()
    let tier = try openTier(scratch, delivered: delivered, faults: DiskFaults { failing.take() })
    let cache = try tier.cache(delivered: delivered)
    for number in 0..<200 { cache.put("k\(number)", value(number, size: 1000)) }
    try await tier.flush()
    failing.set(.noSpace)
    cache.put("new", bytes("new"))
    try await tier.flush()
    #expect(cache.get("new") == bytes("new"))
    #expect(await delivered.reportCodes(atLeast: 1) == [.deviceFull])
    #expect(delivered.lost(.notWritten) == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test
  func `a record larger than an eighth of the limit is refused, leaves no older one behind, and evicts no record`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, limit: .mebibytes(1))
    let cache = try tier.cache(delivered: delivered)
    cache.put("k", bytes("old"))
    cache.put("other", bytes("other"))
    try await tier.flush()
    guard case .refused = cache.put("k", value(1, size: 130_000)) else {
      Issue.record("the store took a record that is larger than an eighth of the limit")
      return
    }
    #expect(cache.get("k") == nil)
    try await tier.flush()
    #expect(cache.keys() == ["other"])
    #expect(cache.statistics.refused == 1)
    guard case .staged = cache.put("k", value(2, size: 120_000)) else {
      Issue.record("the store refused a record that is smaller than an eighth of the limit")
      return
    }
    try await tier.flush()
    #expect(cache.get("k") == value(2, size: 120_000))
    #expect(delivered.lostKeys == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `a write that a full device cuts short is reported as a lack of room`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let failing = Switch<DiskFaults.Fault>()
    let full = Switch<Bool>()
    let tier = try openTier(
      scratch, delivered: delivered, interval: .unreachable,
      faults: DiskFaults(atCommit: { failing.peek() }, isDeviceFull: { full.peek() ?? false }))
    let cache = try tier.cache(delivered: delivered)
    failing.set(.inputOutput)
    full.set(true)
    cache.put("a", [1])
    let error = await #expect(throws: CisternError.self) { try await tier.flush() }
    #expect(error?.code == .noSpace && error?.remedy == "Free space on the device")
    // Tried again, and nothing staged.
    let again = await #expect(throws: CisternError.self) { try await tier.flush() }
    #expect(again?.code == .noSpace)
    full.set(false)
    let other = await #expect(throws: CisternError.self) { try await tier.flush() }
    #expect(other?.code == .diskFailed)
    failing.set(nil)
    try? await tier.close()
    #expect(!DeviceSpace.isExhausted(in: scratch.store))
    #expect(scratch.names() == ["cistern.mark", "data.mdb", "lock.mdb"])
  }

  @Test func `a long reader cannot grow the file past its limit, and is noticed`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let subject = try await TierWithLongReader(scratch, delivered: delivered, patience: .milliseconds(20))
    let (tier, cache) = (subject.tier, subject.cache)
    try await subject.fillDuringRead { held in
      #expect(tier.engine.mode == .degraded)
      #expect(held == bytes("held"))
    }
    // The writer thread reports after it has changed the mode.
    #expect(await delivered.reportCodes(atLeast: 2) == [.longReader, .degraded])
    #expect(try scratch.dataFileSize <= 1 << 20)
    await #expect(throws: CisternError.self) { try await tier.flush() }
    try await tier.flush()
    #expect(await delivered.reportCodes(atLeast: 3) == [.longReader, .degraded, .recovered])
    for number in 0..<2000 {
      cache.put("after-\(number)", value(number, size: 1000))
      await cache.waitForRoom()
    }
    try await tier.flush()
    #expect(cache.get("after-1999") == value(1999, size: 1000))
    #expect(try scratch.dataFileSize <= 1 << 20)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  /// The writes of a commit count until its end, so the amount is above the limit all the time. Writes that are staged
  /// during the commit therefore do not request another one.
  @Test func `a caller that waits for room is resumed although more than the limit is staged during the commit`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let next = Guarded<[@Sendable () -> Void]>([])
    let tier = try openTier(
      scratch, interval: .unreachable,
      faults: DiskFaults {
        next.withLock { $0.isEmpty ? nil : $0.removeFirst() }?()
        return nil
      })
    let cache = try tier.cache()
    let isWaiting = Switch<Bool>()
    let stage: @Sendable (String) -> Void = { prefix in
      for number in 0...DiskLimits.stagedCount { cache.remove("\(prefix)\(number)") }
    }
    next.withLock { next in
      // The caller waits before the writer thread takes the group that it waits for.
      next.append { while isWaiting.peek() != true { usleep(100) } }
      next.append { stage("b") }
    }
    cache.put("k", bytes("value"))
    async let first: Void = tier.flush()
    while next.withLock({ $0.count }) == 2 { await Task.yield() }
    stage("a")
    async let room: Void = cache.waitForRoom()
    while tier.engine.monitor.withLock({ $0.roomWaiters.isEmpty }) { await Task.yield() }
    isWaiting.set(true)
    await room
    try await first
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `the records of many caches that are cleared at once leave the file`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, interval: .unreachable)
    let caches = try (0..<150).map { try tier.cache("cache-\($0)") }
    for cache in caches { cache.put("k", bytes("value")) }
    try await tier.flush()
    for cache in caches { _ = cache.stageRemovalOfAll() }
    try await tier.flush()
    let file = try #require(tier.engine.file)
    func recordCount() throws -> Int {
      try file.environment.withRead { (transaction) throws(LMDBError) in
        switch file.layout {
        case .ordered(let tables): try transaction.statistics(of: tables.order).entryCount
        case .dense(let tables): try transaction.itemCount(in: tables.index)
        }
      }
    }
    while try recordCount() > 0 { await Task.yield() }
    try await tier.flush()
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }
}
