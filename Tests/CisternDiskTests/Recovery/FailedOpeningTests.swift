import CisternTestSupport
import CisternTesting
import Foundation
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Openings that fail after they have opened the data file.
@Suite struct FailedOpeningTests {
  @Test(arguments: [DiskFaults.Fault.inputOutput, .noSpace])
  func `an opening that fails leaves no file open, and the next one can have other limits`(
    fault: DiskFaults.Fault
  ) async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 10)
    var faults = DiskFaults()
    faults.atOpening = { fault }
    let error = #expect(throws: CisternError.self) { _ = try openTier(scratch, faults: faults) }
    #expect(error?.code == (fault == .noSpace ? .noSpace : .diskFailed))
    // A larger limit needs a larger map, which an open file does not get.
    let tier = try openTier(scratch, limit: .mebibytes(32))
    #expect(try tier.cache().keys().count == 10)
    try await tier.close()
  }

  @Test func `an opening that fails leaves the mark of a file that was closed as sound`() async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 10)
    let mark = URL(fileURLWithPath: "\(scratch.store)/\(DiskDirectory.mark)")
    let former = try Data(contentsOf: mark)
    try #require(BootMark(ArraySlice(former)).state == .sound)
    var faults = DiskFaults()
    faults.atOpening = { .inputOutput }
    // The commits of such a store are not synchronized, so a boot would end the trust in the file.
    #expect(throws: CisternError.self) { _ = try openTier(scratch, durability: .processCrash, faults: faults) }
    #expect(try Data(contentsOf: mark) == former)
  }

  @Test(arguments: [DiskFaults.Fault.outOfResources, .permission, .inputOutput, .panic, .corrupted], DiskLayout.both)
  func `a file that cannot be rewritten for a smaller limit now loses nothing`(
    fault: DiskFaults.Fault, layout: DiskLayout
  ) async throws {
    let scratch = TemporaryDirectory()
    try await fillLarge(scratch, layout)
    let delivered = DeliveredReports()
    let error = #expect(throws: CisternError.self) { _ = try openSmallTier(scratch, layout, fault, delivered) }
    #expect(error?.code == (fault == .permission ? .directoryUnusable : .diskFailed))
    #expect(delivered.reportCodes == [])
    let tier = try openTier(scratch, layout: layout)
    #expect(try tier.cache().keys().count == 3000)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: [DiskFaults.Fault.noSpace, .mapFull], DiskLayout.both)
  func `a file without room for its smaller copy is removed`(fault: DiskFaults.Fault, layout: DiskLayout) async throws {
    let scratch = TemporaryDirectory()
    try await fillLarge(scratch, layout)
    let delivered = DeliveredReports()
    let tier = try openSmallTier(scratch, layout, fault, delivered)
    #expect(delivered.reportCodes == [.setAside])
    #expect(try tier.cache().keys() == [])
    try await tier.close()
  }

  @Test(arguments: [DiskFaults.Fault.noSpace, .mapFull])
  func `a file whose limit is raised keeps its records if its faster copy has no room`(fault: DiskFaults.Fault)
    async throws
  {
    let scratch = TemporaryDirectory()
    let small = try openTier(scratch, limit: .mebibytes(4), layout: .dense)
    for number in 0..<100 { try small.cache().put("k\(number)", value(number, size: 700)) }
    try await small.close()
    var faults = DiskFaults(isDeviceFull: { false })
    faults.atReplacement = { fault }
    let delivered = DeliveredReports()
    let large = try openTier(scratch, limit: .mebibytes(64), layout: .dense, delivered: delivered, faults: faults)
    #expect(try large.cache().keys().count == 100)
    try large.cache().put("later", value(0, size: 700))
    try await large.flush()
    #expect(large.checkInvariants() == [] && delivered.reportCodes == [])
    try await large.close()
  }

  @Test func `a file whose limit is raised is not copied if the device has less space than it takes`() async throws {
    let scratch = TemporaryDirectory()
    let small = try openTier(scratch, limit: .mebibytes(4), layout: .dense)
    for number in 0..<100 { try small.cache().put("k\(number)", value(number, size: 700)) }
    try await small.close()
    var faults = DiskFaults(freeBytes: { 4096 })
    let copies = Recorder<Bool>()
    faults.atReplacement = {
      copies.record(true)
      return nil
    }
    let large = try openTier(scratch, limit: .mebibytes(64), layout: .dense, faults: faults)
    #expect(copies.count == 0)
    #expect(try large.cache().keys().count == 100)
    try await large.close()
  }

  @Test func `a file that cannot be rewritten keeps its history`() async throws {
    let scratch = TemporaryDirectory()
    try await fillLarge(scratch, .tested)
    let copy = try Data(contentsOf: scratch.dataFile)
    let former = try openTier(scratch)
    try former.cache().remove("k1")
    try await former.close()
    let delivered = DeliveredReports()
    #expect(throws: CisternError.self) { _ = try openSmallTier(scratch, .tested, .panic, delivered) }
    try copy.write(to: scratch.dataFile)
    let tier = try openTier(scratch, delivered: delivered)
    #expect(delivered.reportCodes == [.rolledBack])
    #expect(try tier.cache().keys().count == 3000)
    try await tier.close()
  }

  @Test(arguments: [DiskFaults.Fault.outOfResources, .permission], DiskLayout.both)
  func `a file that the process cannot read now loses nothing`(fault: DiskFaults.Fault, layout: DiskLayout) async throws
  {
    let scratch = TemporaryDirectory()
    try await fillLarge(scratch, layout)
    var faults = DiskFaults()
    faults.atSourceReading = { fault }
    let error = #expect(throws: CisternError.self) {
      _ = try openTier(scratch, limit: .mebibytes(1), layout: layout, faults: faults)
    }
    #expect(error?.code == (fault == .permission ? .directoryUnusable : .diskFailed))
    let tier = try openTier(scratch, layout: layout)
    #expect(try tier.cache().keys().count == 3000)
    try await tier.close()
  }

  @Test(arguments: [DiskFaults.Fault.panic, .corrupted, .inputOutput], DiskLayout.both)
  func `a damaged or unreadable file that must be rewritten is set aside`(
    fault: DiskFaults.Fault, layout: DiskLayout
  ) async throws {
    for isFull in [false, true] {
      let scratch = TemporaryDirectory()
      try await fillLarge(scratch, layout)
      var faults = DiskFaults(isDeviceFull: { isFull })
      faults.atSourceReading = { fault }
      let delivered = DeliveredReports()
      let tier = try openTier(scratch, limit: .mebibytes(1), layout: layout, delivered: delivered, faults: faults)
      #expect(delivered.reportCodes == [.setAside])
      // A lack of room removes the file instead.
      #expect(!delivered.reports.withLock { $0.contains { $0.message.contains("was removed") } })
      #expect(try tier.cache().keys() == [])
      try await tier.close()
    }
  }

  @Test(arguments: DiskLayout.both, DiskLayout.both)
  func `an error of a copy concerns the file that causes it`(former: DiskLayout, next: DiskLayout) async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, layout: former)
    try tier.cache().put("k", bytes("value"))
    try await tier.close()
    let limits = try DiskLimits(.mebibytes(16), location: "")
    let options = EnvironmentOptions(mapSize: limits.mapSize, maximumDatabases: 4)
    let file = try DiskFile.open(directory: scratch.store, options: options, layout: .only(former))
    // The copy has no room for its tables.
    let withoutTables = EnvironmentOptions(mapSize: limits.mapSize, maximumDatabases: 0)
    let ofCopy = #expect(throws: LMDBError.self) {
      _ = try file.replaceByNewest(within: limits, as: next, options: withoutTables)
    }
    let error = try #require(ofCopy)
    #expect(error.isAboutTheFile && !file.causes(error))
    #expect(try file.isInPlace())
    try file.close()
    #expect(throws: LMDBError.self) { _ = try file.replaceByNewest(within: limits, as: next, options: options) }
    let damage = LMDBError(.corrupted, operation: "read", message: "the file is damaged")
    #expect(file.causes(damage))
  }

  @Test(arguments: [false, true])
  func `a removed file is reported once, although an open store fails to begin the next one at first`(
    isClosed: Bool
  ) async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let next = Switch<DiskFaults.Fault>()
    var faults = DiskFaults()
    faults.atOpening = { next.take() }
    let tier = try openTier(scratch, delivered: delivered, interval: .unreachable, faults: faults)
    let cache = try tier.cache()
    cache.put("before", bytes("before"))
    try await tier.flush()
    try FileManager.default.removeItem(at: scratch.dataFile)
    next.set(.outOfResources)
    cache.put("lost", bytes("lost"))
    await #expect(throws: CisternError.self) { try await tier.flush() }
    #expect(next.peek() == nil && tier.engine.mode == .degraded)
    if !isClosed {
      // This flush begins the file, and tells of the lost value.
      try? await tier.flush()
      #expect(tier.engine.mode == .active && cache.keys() == [])
    }
    // Without a further flush.
    if tier.detach() { await tier.release() }
    let outage: Set<StoreReport.Code> = [.degraded, .recovered]
    #expect(delivered.reportCodes.filter { !outage.contains($0) } == [.filesReplaced])
    let toldAgain = DeliveredReports()
    let again = try openTier(scratch, delivered: toldAgain)
    try await again.close()
    #expect(toldAgain.reportCodes == [])
  }

  @Test(arguments: [StoreReport.Code.filesReplaced, .setAside])
  func `a removed or unusable file is reported once, although the first opening fails`(
    report: StoreReport.Code
  ) async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 10)
    if report == .filesReplaced {
      try FileManager.default.removeItem(at: scratch.dataFile)
    } else {
      try Data("garbage".utf8).write(to: scratch.dataFile)
    }
    let delivered = DeliveredReports()
    var faults = DiskFaults()
    faults.atOpening = { .outOfResources }
    for _ in 0..<2 {
      #expect(throws: CisternError.self) { _ = try openTier(scratch, delivered: delivered, faults: faults) }
    }
    let tier = try openTier(scratch, delivered: delivered)
    #expect(delivered.reportCodes == [report])
    try await tier.close()
  }

  /// Creates a store that is larger than the smaller limit.
  private func fillLarge(_ scratch: TemporaryDirectory, _ layout: DiskLayout) async throws {
    let tier = try openTier(scratch, layout: layout)
    let cache = try tier.cache()
    for number in 0..<3000 {
      cache.put("k\(number)", value(number, size: 700))
      await cache.waitForRoom()
    }
    try await tier.close()
  }

  /// Opens the store with the smaller limit, and a fault of the rewriting.
  private func openSmallTier(
    _ scratch: TemporaryDirectory, _ layout: DiskLayout, _ fault: DiskFaults.Fault, _ delivered: DeliveredReports
  ) throws -> DiskTier {
    var faults = DiskFaults(isDeviceFull: { false })
    faults.atReplacement = { fault }
    return try openTier(scratch, limit: .mebibytes(1), layout: layout, delivered: delivered, faults: faults)
  }
}
