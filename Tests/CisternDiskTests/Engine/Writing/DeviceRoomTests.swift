import CisternTestSupport
import Foundation
import Testing

@testable import CisternCore
@testable import CisternDisk

/// A device that is full below the disk limit.
@Suite struct DeviceRoomTests {
  struct Filling {
    let entries: Int
    let bytes: Int
    let failures: Int
    let defects: Int
    let newest: Int
  }

  /// Fills a store of 16 MiB on a small device, then on a larger one. Returns what each of them holds, and the reports.
  func fill(_ small: Int, then large: Int, reported: Bool) throws -> (fillings: [Filling], reports: [String]) {
    let scratch = TemporaryDirectory()
    let child = try ChildProcess([
      "device", scratch.path, "\(1 << 20)", "processCrash", "\(small)", "\(large)", reported ? "reported" : "quota",
    ])
    var fillings: [Filling] = []
    var reports: [String] = []
    while let line = child.readLine() {
      let words = line.split(separator: " ")
      if words[0] == "report" {
        reports.append(String(words[1]))
      } else {
        let numbers = words.compactMap { Int($0) }
        fillings.append(
          Filling(
            entries: numbers[0], bytes: numbers[1], failures: numbers[2], defects: numbers[3], newest: numbers[4]))
      }
    }
    #expect(child.waitForEnd() == 0)
    return (fillings, reports)
  }

  @Test(arguments: [700 << 10, 3 << 20 + 2048, 6 << 20 - 6000], [true, false])
  func `a store keeps what a small device can hold, reports it once, and grows with the device`(
    device: Int, reported: Bool
  ) throws {
    let (fillings, reports) = try fill(device, then: 64 << 20, reported: reported)
    try #require(fillings.count == 2)
    for filling in fillings {
      #expect(filling.failures == 0)
      #expect(filling.defects == 0)
    }
    // In a small dense file, the reserve is a large part.
    #expect(fillings[0].bytes > device / (DiskLayout.tested == .ordered ? 3 : 4), "\(fillings[0])")
    #expect(fillings[0].newest == 1499)
    #expect(fillings[1].bytes > 10 << 20, "\(fillings[1])")
    #expect(fillings[1].newest == 3999)
    #expect(reports == ["deviceFull", "recovered"])
  }

  @Test(arguments: [200, 4096, 6000, 8192, 10_000, 16_384, 20_000])
  func `an opening on a device without room for an empty store says so`(device: Int) throws {
    let scratch = TemporaryDirectory()
    let child = try ChildProcess(["open-device", scratch.path, "\(1 << 20)", "processCrash", "\(device)"])
    #expect(child.readLine() == "noSpace")
    #expect(child.waitForEnd() == 0)
  }

  @Test(arguments: [DiskLayout.ordered, .dense])
  func `a group that overwrites all values on a full device keeps most of them`(layout: DiskLayout) throws {
    let store = try OverwrittenStore(count: 1000, perFlush: 1000, layout: layout)
    #expect(store.newCount > 500)
    #expect(store.failures == 0 && store.defects == 0)
  }

  private func limits(_ limit: ByteCount = .mebibytes(64)) throws -> DiskLimits {
    try DiskLimits(limit, location: "test")
  }

  @Test(arguments: [1, 51, 52, 200, 1000, 5000, 16_371, 16_372, 20_000])
  func `the sizes for a full device have the proportions of a limit of that size`(pages: Int) throws {
    let whole = try limits()
    var room = DeviceRoom(whole)
    _ = room.noteFull(pages: pages)
    let small = room.limits
    #expect(small.pageCount == min(max(pages, try limits(DiskLimits.minimum).pageCount), whole.pageCount))
    #expect(room.isLimited == (pages < whole.pageCount))
    #expect(small.lowWatermark > small.pageCount / 4)
    #expect(small.highWatermark + small.margin == small.pageCount)
    #expect(small.pagesPerTransaction <= max(6, small.pageCount / 48))
  }

  @Test func `a store tries a larger size when the device has room, and less often after each failure`() throws {
    var room = DeviceRoom(try limits())
    _ = room.noteFull(pages: 1000)
    var pause = DeviceRoom.shortestPause
    for _ in 0..<12 {
      // The groups of a pause do not ask for the free space.
      for _ in 0..<pause {
        let outcome = room.beginGroup(pages: 1000) {
          Issue.record("the store asked for the free space during a pause")
          return nil
        }
        #expect(outcome == .unchanged)
      }
      let crowded = room.beginGroup(pages: 1000) { 10 }
      #expect(crowded == .unchanged)
      let unknown = room.beginGroup(pages: 1000) { nil }
      #expect(unknown == .grown)
      #expect(room.limits.pageCount == 1124)
      // Several failures of one group end one attempt.
      for _ in 0..<3 { _ = room.noteFull(pages: 1000) }
      #expect(room.limits.pageCount == 1000)
      pause = min(pause * 2, DeviceRoom.longestPause)
    }
    #expect(pause == DeviceRoom.longestPause)
    room.noteRecovery()
    let free = room.beginGroup(pages: 1000) { 1 << 30 }
    #expect(free == .grown)
    #expect(!room.isLimited)
  }

  @Test func `a device that limits the store is reported once until the file has grown`() throws {
    var room = DeviceRoom(try limits())
    let report = room.noteSuccess()
    #expect(report == .omit)
    _ = room.noteFull(pages: 1000)
    let reports = (0..<10).map { _ in room.noteSuccess() }
    #expect(reports == [.send] + Array(repeating: .omit, count: 9))
    room.noteRecovery()
    let free = room.beginGroup(pages: 1000) { 1 << 30 }
    #expect(free == .grown)
    let reportAgain = room.noteSuccess()
    #expect(reportAgain == .omit)
    // The device said more than it has, as with a quota.
    _ = room.noteFull(pages: 1000)
    let reportAfterQuota = room.noteSuccess()
    #expect(reportAfterQuota == .omit)
    room.noteRecovery()
    let freeAgain = room.beginGroup(pages: 1000) { 1 << 30 }
    #expect(freeAgain == .grown)
    let short = room.beginGroup(pages: 1132) { 1 << 30 }
    #expect(short == .unchanged)
    let grown = room.beginGroup(pages: 1133) { 1 << 30 }
    #expect(grown == .recovered)
    let later = room.beginGroup(pages: 1140) { 1 << 30 }
    #expect(later == .unchanged)
    _ = room.noteFull(pages: 2000)
    let reportAnew = room.noteSuccess()
    #expect(reportAnew == .send)
  }

  @Test func `a full device that takes no record has three reports`() {
    var outages = OutageReports()
    var reports: [String] = []
    for _ in 0..<100 {
      if outages.noteFailure(isFull: true) == .send { reports.append("failed") }
      if outages.noteFailure(isFull: true) == .send { reports.append("failed again") }
      if outages.noteRecovery() == .send { reports.append("recovered") }
    }
    #expect(reports == ["failed", "recovered", "failed"])
    let recovery = outages.noteRecord()
    #expect(recovery == .send)
    let secondRecovery = outages.noteRecord()
    #expect(secondRecovery == .omit)
    let full = outages.noteFailure(isFull: true)
    #expect(full == .send)
    let afterFull = outages.noteRecovery()
    #expect(afterFull == .send)
    // Another failure than a full device is always reported.
    let failure = outages.noteFailure(isFull: false)
    #expect(failure == .send)
    let afterFailure = outages.noteRecovery()
    #expect(afterFailure == .send)
  }

  /// Opens a tier, fills it with records, and makes its device full.
  func openFull(_ scratch: TemporaryDirectory, delivered: DeliveredReports) async throws -> (
    DiskTier, any TransactionalPartition
  ) {
    let failing = Switch<DiskFaults.Fault>()
    let tier = try openTier(
      scratch, limit: .mebibytes(16), delivered: delivered, interval: .unreachable,
      faults: DiskFaults(atCommit: { failing.take() }, freeBytes: { 0 }))
    let cache = try tier.cache(delivered: delivered)
    for number in 0..<1000 { cache.put("k\(number)", value(number, size: 1000)) }
    try await tier.flush()
    failing.set(.noSpace)
    cache.put("small", value(1, size: 1000))
    try await tier.flush()
    return (tier, cache)
  }

  @Test func `a flush throws for a write that a full device refused before the flush began, once`() async throws {
    let scratch = TemporaryDirectory()
    let (tier, cache) = try await openFull(scratch, delivered: DeliveredReports())
    for flushes in [true, false] {
      guard case .staged(let large) = cache.put("large", value(1, size: 1 << 20)) else {
        Issue.record("the large write was not staged")
        return
      }
      // The write is settled before the flush begins.
      await #expect(throws: CisternError.self) { try await cache.waitForCommit(large) }
      cache.put("small", value(2, size: 1000))
      let error = await #expect(throws: CisternError.self) {
        if flushes { try await tier.flush() } else { try await tier.close() }
      }
      #expect(error?.code == .noSpace)
      if flushes { try await tier.flush() }
    }
  }

  @Test(arguments: [true, false])
  func `the last commit removes the older record of a write that it gives up`(isExit: Bool) async throws {
    let scratch = TemporaryDirectory()
    let (tier, cache) = try await openFull(scratch, delivered: DeliveredReports())
    cache.put("large", bytes("older"))
    try await tier.flush()
    #expect(cache.get("large") == bytes("older"))
    // Above an eighth of the present size, and too small to be committed at once.
    cache.put("large", value(1, size: 400_000))
    if isExit {
      // The exit handler of the process does this. A store that is left open then has nothing to commit.
      let engine = tier.engine
      engine.exitPhase = .asked
      engine.monitor.change { $0.isCommitRequested = true }
      while engine.exitPhase != .done { await Task.yield() }
      #expect(engine.stagedCount.load(ordering: .relaxed) == 0)
    }
    tier.withdraw()
    let reopened = try openTier(scratch)
    let found = try reopened.cache()
    #expect(found.get("large") == nil && found.get("small") == value(1, size: 1000))
    #expect(reopened.checkInvariants() == [])
    try await reopened.close()
  }

  @Test(arguments: [true, false])
  func `a write that is too large for a full device is refused without evictions`(isAlone: Bool) async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let (tier, cache) = try await openFull(scratch, delivered: delivered)
    let kept = tier.statistics.entryCount
    #expect(kept > 300)
    guard case .staged(let large) = cache.put("large", value(1, size: 1 << 20)) else {
      Issue.record("the large write was not staged")
      return
    }
    if !isAlone { cache.put("small", value(2, size: 1000)) }
    let error = await #expect(throws: CisternError.self) { try await cache.waitForCommit(large) }
    if isAlone {
      #expect(tier.statistics.entryCount == kept)
      cache.put("small", value(2, size: 1000))
    }
    #expect(error?.code == .noSpace && error?.remedy == "Free space on the device, or store smaller values")
    #expect(cache.get("large") == nil)
    #expect(cache.get("small") == value(2, size: 1000))
    // This flush also commits the removal that replaces the refused record.
    await #expect(throws: CisternError.self) { try await tier.flush() }
    try await tier.flush()
    // The small write evicts a few records, as below the disk limit: some, or those of an extent.
    let most = DiskLayout.tested == .ordered ? 9 : ExtentLayout(mapSize: tier.engine.limits.mapSize).capacity / 1000
    #expect(tier.statistics.entryCount >= kept - most)
    #expect(delivered.lost(.notWritten) == [bytes("large")])
    #expect(delivered.reportCodes == [.deviceFull])
    #expect(tier.statistics.mode == .active)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }
}
