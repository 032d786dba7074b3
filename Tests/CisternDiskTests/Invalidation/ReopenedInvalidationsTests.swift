import CisternTestSupport
import Foundation
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Invalidations that are in force while the writer thread opens a file again.
@Suite struct ReopenedInvalidationsTests {
  /// The reason to open a file again.
  enum Change: CaseIterable, Sendable {
    case panic, lockRemoved, damaged, olderData

    /// Whether the open file is the same one.
    var keepsFile: Bool { self == .panic || self == .lockRemoved }

    /// The error of the next commit.
    var fault: DiskFaults.Fault? {
      switch self {
      case .panic: .panic
      case .damaged: .corrupted
      case .lockRemoved, .olderData: nil
      }
    }

    func perform(in scratch: TemporaryDirectory, older: Data) {
      switch self {
      case .panic, .damaged: break
      case .lockRemoved: try? FileManager.default.removeItem(at: scratch.url("store/lock.mdb"))
      case .olderData: try? older.write(to: scratch.dataFile, options: .atomic)
      }
    }
  }

  @Test(arguments: Change.allCases)
  func `an invalidation conceals no newer record if the file is opened again before its purge`(
    change: Change
  ) async throws {
    let scratch = TemporaryDirectory()
    let next = Switch<@Sendable () -> DiskFaults.Fault?>()
    let tier = try openTier(scratch, interval: .unreachable, faults: DiskFaults { next.take()?() })
    let cache = try tier.cache()
    cache.put("old", [1], tags: ["red"])
    try await tier.flush()
    let older = try Data(contentsOf: scratch.dataFile)
    _ = cache.stageInvalidation(.tag("red"))
    cache.put("new", [2], tags: ["red"])
    let version = cache.invalidationVersion
    // A write that is staged during the commit is committed before the purge.
    next.set {
      cache.put("newer", [3], tags: ["red"])
      tier.engine.monitor.change { $0.isCommitRequested = true }
      change.perform(in: scratch, older: older)
      next.set { change.fault }
      return nil
    }
    try await tier.flush()
    try await tier.flush()
    #expect(cache.get("old") == nil)
    #expect(cache.get("new") == (change.keepsFile ? [2] : nil))
    #expect(cache.get("newer") == [3])
    // The fetch of this value began after the invalidation.
    cache.put("fetched", [4], tags: ["red"], invalidationVersion: version)
    try await tier.purge()
    #expect(cache.keys() == (change.keepsFile ? ["new", "newer", "fetched"] : ["newer", "fetched"]))
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    let again = try openTier(scratch)
    #expect(try again.cache().invalidationVersion == version)
    try await again.close()
  }

  @Test func `an ended invalidation conceals the records of an older copy of the file`() async throws {
    let scratch = TemporaryDirectory()
    var tier = try openTier(scratch, interval: .unreachable)
    var cache = try tier.cache()
    cache.put("old", [1], tags: ["red"])
    cache.put("kept", [2], tags: ["blue"])
    try await tier.flush()
    let older = try Data(contentsOf: scratch.dataFile)
    _ = cache.stageInvalidation(.tag("red"))
    try await tier.purge()
    cache.put("new", [3], tags: ["red"])
    try await tier.flush()
    try older.write(to: scratch.dataFile, options: .atomic)
    cache.put("newer", [4], tags: ["red"])
    try await tier.flush()
    #expect(cache.get("old") == nil && cache.get("newer") == [4])
    #expect(cache.keys() == ["kept", "newer"])
    try await tier.purge()
    #expect(tier.engine.stagedCount.load(ordering: .relaxed) == 0)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    tier = try openTier(scratch)
    cache = try tier.cache()
    #expect(cache.keys() == ["kept", "newer"])
    try await tier.close()
  }

  @Test func `an ended invalidation of a former file conceals no record of the next one`() async throws {
    let scratch = TemporaryDirectory()
    let next = Switch<DiskFaults.Fault>()
    let tier = try openTier(scratch, interval: .unreachable, faults: DiskFaults { next.take() })
    let cache = try tier.cache()
    cache.put("old", [1], tags: ["red"])
    try await tier.flush()
    _ = cache.stageInvalidation(.tag("red"))
    try await tier.purge()
    next.set(.corrupted)
    cache.put("new", [2], tags: ["red"])
    try await tier.flush()
    #expect(cache.get("new") == [2])
    #expect(cache.keys() == ["new"])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `an ended invalidation conceals no newer record if a read fails while the file is opened again`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let (commit, comparison) = (Switch<DiskFaults.Fault>(), Switch<DiskFaults.Fault>())
    var faults = DiskFaults { commit.take() }
    faults.atComparison = { comparison.take() }
    let tier = try openTier(scratch, interval: .unreachable, faults: faults)
    let cache = try tier.cache()
    cache.put("old", [1], tags: ["red"])
    try await tier.flush()
    _ = cache.stageInvalidation(.tag("red"))
    try await tier.purge()
    cache.put("new", [2], tags: ["red"])
    try await tier.flush()
    comparison.set(.outOfResources)
    commit.set(.panic)
    cache.put("other", [3])
    await #expect(throws: CisternError.self) { try await tier.flush() }
    #expect(tier.engine.mode == .degraded)
    // The retry opens the file again, and can read it.
    try await tier.flush()
    #expect(tier.engine.mode == .active)
    #expect(cache.keys() == ["new"])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `a file that is found damaged while it is opened again is replaced`() async throws {
    let scratch = TemporaryDirectory()
    let (commit, comparison) = (Switch<DiskFaults.Fault>(), Switch<DiskFaults.Fault>())
    var faults = DiskFaults { commit.take() }
    faults.atComparison = {
      let fault = comparison.take()
      // The next step meets the same damage.
      if let fault { commit.set(fault) }
      return fault
    }
    let tier = try openTier(scratch, interval: .unreachable, faults: faults)
    let cache = try tier.cache()
    cache.put("old", [1])
    try await tier.flush()
    comparison.set(.corrupted)
    commit.set(.panic)
    cache.put("new", [2])
    try await tier.flush()
    #expect(tier.engine.mode == .active)
    #expect(cache.keys() == ["new"])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `a file with a damaged row is set aside when it is opened again`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let next = Switch<DiskFaults.Fault>()
    let tier = try openTier(scratch, delivered: delivered, interval: .unreachable, faults: DiskFaults { next.take() })
    let cache = try tier.cache()
    cache.put("old", [1])
    try await tier.flush()
    // The pages are sound, and no commit reads the row of a cache that is not open.
    let file = try #require(tier.engine.file)
    let key = MetaTable.partition("other")
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.put([UInt8](repeating: 1, count: 24).rawSpan, forKey: key.rawSpan, in: file.meta)
    }
    next.set(.panic)
    cache.put("new", [2])
    try await tier.flush()
    #expect(tier.engine.mode == .active && delivered.reportCodes == [.setAside])
    #expect(cache.keys() == ["new"])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    let again = try openTier(scratch, delivered: delivered)
    #expect(try again.cache().keys() == ["new"])
    try await again.close()
    #expect(delivered.reportCodes == [.setAside])
  }

  @Test func `an older copy is reported once, although the first attempts to open it fail`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let (opening, comparison) = (Switch<DiskFaults.Fault>(), Switch<DiskFaults.Fault>())
    var faults = DiskFaults()
    faults.atOpening = { opening.take() }
    faults.atComparison = { comparison.take() }
    let tier = try openTier(scratch, delivered: delivered, interval: .unreachable, faults: faults)
    let cache = try tier.cache()
    cache.put("old", [1])
    try await tier.flush()
    let older = try Data(contentsOf: scratch.dataFile)
    cache.put("new", [2])
    try await tier.flush()
    try older.write(to: scratch.dataFile, options: .atomic)
    cache.put("other", [3])
    // The mark has the history of the older copy only after the second of these attempts.
    for fault in [opening, comparison] {
      fault.set(.outOfResources)
      await #expect(throws: CisternError.self) { try await tier.flush() }
      #expect(fault.peek() == nil && tier.engine.mode == .degraded)
    }
    try await tier.flush()
    let rollbacks = delivered.reportCodes.filter { $0 == .rolledBack }
    #expect(rollbacks.count == 1 && tier.engine.mode == .active)
    #expect(cache.keys() == ["old"])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `a listing shows no record of a former file that an invalidation removed during the listing`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let next = Switch<DiskFaults.Fault>()
    let tier = try openTier(scratch, interval: .unreachable, faults: DiskFaults { next.take() })
    let cache = try tier.cache()
    for key in ["first", "second"] { cache.put(key, [1], tags: ["red"]) }
    try await tier.flush()
    let partition = tier.engine.partition(named: "cache")
    var listed = 0
    let isComplete = cache.listRecords { _, metadata, _ in
      if metadata.tags == ["red"] { listed += 1 }
      if partition.invalidations.invalidationVersion > 0 { return true }
      _ = cache.stageInvalidation(.tag("red"))
      while !partition.invalidations.pending.isEmpty { tier.engine.awaitFollowing() }
      next.set(.corrupted)
      cache.put("new", [2])
      tier.engine.awaitFollowing()
      return true
    }
    #expect(isComplete && listed == 1)
    #expect(cache.keys() == ["new"])
    try await tier.close()
  }
}
