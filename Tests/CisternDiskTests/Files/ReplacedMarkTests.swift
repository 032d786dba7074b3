import CisternTestSupport
import Foundation
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Marks in a directory that replaces the one of an open store.
@Suite struct ReplacedMarkTests {
  private let scratch = TemporaryDirectory()
  private let other = TemporaryDirectory()

  /// Replaces the directory of the open store by the other one.
  private func replaceDirectory() throws {
    try FileManager.default.removeItem(atPath: scratch.store)
    try FileManager.default.moveItem(atPath: other.store, toPath: scratch.store)
  }

  private func mark(of tier: DiskTier) throws -> BootMark {
    try #require(try tier.engine.claim.readMark())
  }

  @Test func `the mark gets the limit of the open store`() async throws {
    let former = try openTier(other, limit: .mebibytes(15))
    try former.cache().put("k", bytes("k"))
    try await former.close()
    let tier = try openTier(scratch)
    try replaceDirectory()
    try tier.cache().put("after", bytes("after"))
    try await tier.flush()
    #expect(try mark(of: tier).limit == 16 << 20)
    #expect(try tier.cache().keys() == ["k", "after"])
    try await tier.close()
  }

  @Test(arguments: [DiskFaults.Fault?.none, .inputOutput])
  func `commits without synchronization are written through before a store that synchronizes its own uses the file`(
    fault: DiskFaults.Fault?
  ) async throws {
    try await fill(other, count: 10)
    let url = other.url("store/cistern.mark")
    var unsynchronized = BootMark([UInt8](try Data(contentsOf: url))[...])
    (unsynchronized.state, unsynchronized.boot) = (.unsynchronized, currentBoot())
    try Data(unsynchronized.bytes).write(to: url)
    let next = Switch<DiskFaults.Fault>()
    var faults = DiskFaults()
    faults.atSynchronization = { next.take() }
    let tier = try openTier(scratch, durability: .powerCut, interval: .unreachable, faults: faults)
    try replaceDirectory()
    next.set(fault)
    let cache = try tier.cache()
    cache.put("after", bytes("after"))
    if fault == nil {
      try await tier.flush()
      #expect(cache.get("k1") == value(1, size: 700) && cache.get("after") == bytes("after"))
    } else {
      await #expect(throws: CisternError.self) { try await tier.flush() }
      #expect(try mark(of: tier).state == .failed)
      // The next attempt sets the file aside.
      try? await tier.flush()
      #expect(cache.keys() == [])
    }
    #expect(try mark(of: tier).state == .sound)
    #expect(tier.engine.mode == .active)
    try await tier.close()
  }

  @Test func `a close leaves the mark of a file that another process has begun`() async throws {
    let tier = try openTier(scratch)
    try tier.cache().put("before", bytes("before"))
    try await tier.flush()
    try await fill(other, count: 10)
    try Data(contentsOf: other.dataFile).write(to: scratch.dataFile, options: .atomic)
    // In place, because the open store has a claim on the file.
    try Data(contentsOf: other.url("store/cistern.mark")).write(to: scratch.url("store/cistern.mark"))
    try await tier.close()
    let delivered = DeliveredReports()
    let next = try openTier(scratch, delivered: delivered)
    #expect(try next.cache().keys().count == 10)
    #expect(delivered.reportCodes == [])
    try await next.close()
  }

  @Test func `an opening beside another process names the damage of the mark`() throws {
    let child = try ChildProcess("hold", scratch.store, "\(16 << 20)", "processCrash")
    #expect(child.readLine() == "holding")
    try Data("damaged".utf8).write(to: scratch.url("store/cistern.mark"))
    let error = #expect(throws: CisternError.self) { try openTier(scratch) }
    #expect(error?.code == .storeInUse && error?.message.contains("the mark of the data file is damaged") == true)
    _ = child.kill()
  }

  @Test func `a directory that another process has open with another limit is used after that process has ended`()
    async throws
  {
    let child = try ChildProcess("hold", other.store, "\(15 << 20)", "processCrash")
    #expect(child.readLine() == "holding")
    let tier = try openTier(scratch, interval: .unreachable)
    try replaceDirectory()
    try tier.cache().put("lost", bytes("lost"))
    await #expect(throws: CisternError.self) { try await tier.flush() }
    #expect(tier.engine.mode == .degraded)
    #expect(try mark(of: tier).limit == 15 << 20)
    _ = child.kill()
    try? await tier.flush()
    #expect(tier.engine.mode == .active)
    #expect(try mark(of: tier).limit == 16 << 20)
    try await tier.close()
  }
}
