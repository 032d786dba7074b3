import CisternTestSupport
import Foundation
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Openings of a directory that a tier closes or leaves, and closings, on threads for which a closing waits.
@Suite struct OpeningWhileClosingThreadsTests {
  private static func openError(_ scratch: TemporaryDirectory) -> CisternError.Code? {
    openError { _ = try openTier(scratch) }
  }

  private static func openError(_ open: () throws -> Void) -> CisternError.Code? {
    do {
      try open()
      return nil
    } catch {
      return (error as? CisternError)?.code
    }
  }

  /// Opens a tier over a directory with the record "k0".
  private static func tier(
    _ scratch: TemporaryDirectory, isReadOnly: Bool, delivered: DeliveredReports = DeliveredReports()
  ) async throws -> (DiskTier, any TransactionalPartition) {
    try await fill(scratch, count: 1)
    let tier = try openTier(scratch, delivered: delivered, isReadOnly: isReadOnly)
    return (tier, try tier.cache())
  }

  /// Runs `body` in a read of the record "k0", on a thread of its own. Returns nil if there is no record.
  private static func read<Result: Sendable>(
    _ cache: any TransactionalPartition, _ body: @escaping @Sendable (RawSpan) -> Result
  ) async -> Result? {
    await Task.detached(executorPreference: ThreadPerJob()) { () -> Result? in
      let key = bytes("k0")
      return cache.withRecord(forKey: key.rawSpan) { _, bytes in body(bytes) }
    }.value
  }

  /// Returns a closure in which two threads meet: a call blocks its thread until the other thread has made as many
  /// calls.
  private static func meetings() -> @Sendable () -> Void {
    let arrivals = Monitor(0)
    return {
      let target = arrivals.change { count -> Int in
        count += 1
        return (count + 1) / 2 * 2
      }
      arrivals.wait { $0 >= target ? () : nil }
    }
  }

  @Test
  func `a report handler on the writer thread of a closing tier cannot open the directory or wait`() async throws {
    let scratch = TemporaryDirectory()
    let (failing, code) = (Switch<DiskFaults.Fault>(), Switch<CisternError.Code?>())
    let (isReporting, isClosing) = (Monitor(false), Monitor(false))
    var options = DiskOptions(limit: .mebibytes(16), layout: .tested, durability: .processCrash)
    options.retryInterval = .unreachable
    options.commitInterval = .milliseconds(1)
    options.faults = DiskFaults { failing.take() }
    let tier = try DiskTier(directory: scratch.store, options: options) { _ in
      isReporting.change { $0 = true }
      isClosing.wait { $0 ? () : nil }
      code.set(.some(Self.openError(scratch)))
    }
    failing.set(.corrupted)
    try tier.cache().put("k", bytes("k"))
    await Task.detached(executorPreference: ThreadPerJob()) { isReporting.wait { $0 ? () : nil } }.value
    tier.withdraw()
    isClosing.change { $0 = true }
    await tier.engine.waitForStop()
    #expect(code.peek() == .some(.storeInUse))
    let again = try openTier(scratch)
    #expect(try again.cache().get("k") == bytes("k"))
    try await again.close()
  }

  /// Runs `body` in a read of a tier that another thread closes.
  private static func readWhileClosing(
    _ tier: DiskTier, _ cache: any TransactionalPartition, isReadOnly: Bool,
    _ body: @escaping @Sendable () throws -> Void
  ) async -> CisternError.Code?? {
    await read(cache) { _ -> CisternError.Code? in
      // A read-only tier closes its file on the thread that closes the tier.
      let isClosing = Monitor(false)
      try? SystemThread.start {
        tier.withdraw()
        isClosing.change { $0 = true }
      }
      if isReadOnly {
        while tier.engine.mode != .closed {}
      } else {
        isClosing.wait { $0 ? () : nil }
      }
      return Self.openError(body)
    }
  }

  @Test(arguments: [false, true])
  func `a read of a closing tier cannot open the directory, and does not wait`(isReadOnly: Bool) async throws {
    let scratch = TemporaryDirectory()
    let (tier, cache) = try await Self.tier(scratch, isReadOnly: isReadOnly)
    let code = await Self.readWhileClosing(tier, cache, isReadOnly: isReadOnly) { _ = try openTier(scratch) }
    #expect(code == .some(.storeInUse))
    await tier.engine.waitForStop()
    let again = try openTier(scratch)
    #expect(try again.cache().keys() == ["k0"])
    try await again.close()
  }

  @Test(arguments: [false, true])
  func `a read of a closing tier cannot compact the directory, and does not wait`(isReadOnly: Bool) async throws {
    let scratch = TemporaryDirectory()
    let (tier, cache) = try await Self.tier(scratch, isReadOnly: isReadOnly)
    let code = await Self.readWhileClosing(tier, cache, isReadOnly: isReadOnly) {
      _ = try DiskTier.compact(directory: scratch.store)
    }
    #expect(code == .some(.storeInUse))
    await tier.engine.waitForStop()
    _ = try DiskTier.compact(directory: scratch.store)
    let again = try openTier(scratch)
    #expect(try again.cache().keys() == ["k0"])
    try await again.close()
  }

  @Test(arguments: [false, true])
  func `a caller that waits for the end of a tier while its reports are delivered waits for them`(
    isReadOnly: Bool
  ) async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 1)
    let (engine, hasReturned) = (Switch<DiskEngine>(), Switch<Bool>())
    let isReporting = Monitor(false)
    let delivered = DeliveredReports()
    let options = DiskOptions(
      limit: .mebibytes(16), layout: .tested, durability: .processCrash, isReadOnly: isReadOnly)
    let tier = try DiskTier(directory: scratch.store, options: options) { report in
      isReporting.change { $0 = true }
      // The test waits for the end from here on, unless its wait returns before the reports.
      engine.peek()?.monitor.wait { state in !state.stopWaiters.isEmpty || hasReturned.peek() == true ? () : nil }
      delivered.reports.withLock { $0.append(report) }
    }
    engine.set(tier.engine)
    // Only the close finds the removed file.
    try FileManager.default.removeItem(at: scratch.dataFile)
    try SystemThread.start { tier.withdraw() }
    await Task.detached(executorPreference: ThreadPerJob()) { isReporting.wait { $0 ? () : nil } }.value
    await tier.engine.waitForStop()
    #expect(delivered.reportCodes == [.filesReplaced])
    hasReturned.set(true)
    tier.engine.monitor.change { _ in }
    engine.set(nil)
  }

  @Test
  func `a read-only tier that is released in its own read closes its file after the read`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let (tier, cache) = try await Self.tier(scratch, isReadOnly: true, delivered: delivered)
    let isSame = await Self.read(cache) { bytes -> Bool in
      tier.withdraw()
      return bytes.copiedBytes() == value(0, size: 700)
    }
    #expect(isSame == true)
    await tier.engine.waitForStop()
    #expect(delivered.reportCodes == [])
    // A file that is still open for reading only refuses this opening.
    let again = try openTier(scratch)
    #expect(try again.cache().keys() == ["k0"])
    try await again.close()
  }

  @Test
  func `two read-only tiers that are each released in a read of the other one are closed`() async throws {
    let (firstScratch, secondScratch) = (TemporaryDirectory(), TemporaryDirectory())
    let (first, firstCache) = try await Self.tier(firstScratch, isReadOnly: true)
    let (second, secondCache) = try await Self.tier(secondScratch, isReadOnly: true)
    let meet = Self.meetings()
    async let firstRead = Self.read(firstCache) { _ -> Bool in
      meet()
      second.withdraw()
      return true
    }
    async let secondRead = Self.read(secondCache) { _ -> Bool in
      meet()
      first.withdraw()
      return true
    }
    let reads = await [firstRead, secondRead]
    #expect(reads == [true, true])
    for (tier, scratch) in [(first, firstScratch), (second, secondScratch)] {
      await tier.engine.waitForStop()
      try await openTier(scratch).close()
    }
  }

  @Test
  func `two reads that each open the moved directory of the other tier do not wait`() async throws {
    let (firstScratch, secondScratch) = (TemporaryDirectory(), TemporaryDirectory())
    let (first, firstCache) = try await Self.tier(firstScratch, isReadOnly: false)
    let (second, secondCache) = try await Self.tier(secondScratch, isReadOnly: false)
    for scratch in [firstScratch, secondScratch] {
      try FileManager.default.moveItem(atPath: scratch.store, toPath: scratch("moved"))
    }
    let options = first.engine.options
    let meet = Self.meetings()
    let open: @Sendable (TemporaryDirectory) -> CisternError.Code? = { scratch in
      meet()
      // Each tier leaves its moved directory only after the reads of its file.
      defer { meet() }
      return Self.openError { _ = try DiskTier(directory: scratch("moved"), options: options) }
    }
    async let firstRead = Self.read(firstCache) { _ in open(secondScratch) }
    async let secondRead = Self.read(secondCache) { _ in open(firstScratch) }
    let codes = await [firstRead, secondRead]
    #expect(codes == [.some(.storeInUse), .some(.storeInUse)])
    for (tier, scratch) in [(first, firstScratch), (second, secondScratch)] {
      try await tier.close()
      let moved = try DiskTier(directory: scratch("moved"), options: options)
      #expect(try moved.cache().keys() == ["k0"])
      try await moved.close()
    }
  }
}
