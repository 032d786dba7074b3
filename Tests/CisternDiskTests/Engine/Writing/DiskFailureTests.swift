import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore
@testable import CisternDisk

/// A disk that fails: nothing wrong is ever read, and the tier comes back.
@Suite struct DiskFailureTests {
  @Test(arguments: [DiskFaults.Fault.inputOutput, .noSpace])
  func `a failing disk refuses writes, returns no outdated record, and recovers`(
    fault: DiskFaults.Fault
  ) async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let failing = Switch<DiskFaults.Fault>()
    // Committed by the flushes only.
    let tier = try openTier(
      scratch, delivered: delivered, interval: .unreachable, faults: DiskFaults { failing.peek() })
    let cache = try tier.cache(delivered: delivered)
    for key in ["kept", "replaced", "removed", "replaced later"] { cache.put(key, bytes("old")) }
    try await tier.flush()

    failing.set(fault)
    cache.put("replaced", bytes("new"))
    cache.put("added", bytes("new"))
    cache.remove("removed")
    let error = await #expect(throws: CisternError.self) { try await tier.flush() }
    #expect(error?.code == (fault == .noSpace ? .noSpace : .diskFailed))
    #expect(tier.statistics.mode == .degraded)
    #expect(delivered.reportCodes == [.degraded])
    #expect(Set(delivered.lost(.notWritten)) == [bytes("replaced"), bytes("added")])
    #expect(cache.get("replaced") == nil)
    #expect(cache.get("added") == nil)
    #expect(cache.get("removed") == nil)
    if fault == .inputOutput { #expect(cache.get("kept") == bytes("old")) }

    // Refused, and the older record is not read from then on.
    guard case .refused = cache.put("replaced later", bytes("new")) else {
      Issue.record("taken, although the disk fails")
      return
    }
    #expect(cache.get("replaced later") == nil)
    guard case .staged(let ticket) = cache.remove("kept") else {
      Issue.record("a removal is refused")
      return
    }
    await #expect(throws: CisternError.self) { try await cache.waitForCommit(ticket) }
    #expect(delivered.reportCodes == [.degraded])

    failing.set(nil)
    // The disk works again. The writes that were refused during the outage are not on it, and a flush says so once.
    let loss = await #expect(throws: CisternError.self) { try await tier.flush() }
    #expect(loss?.code == .diskFailed)
    try await tier.flush()
    #expect(tier.statistics.mode == .active)
    #expect(await delivered.reportCodes(atLeast: 2) == [.degraded, .recovered])
    cache.put("after", bytes("after"))
    try await tier.flush()
    #expect(cache.keys() == ["after"])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    let again = try openTier(scratch)
    #expect(try again.cache().keys() == ["after"])
    try await again.close()
  }

  @Test func `a flush tells what the disk did not take since the last one, though it works again`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let failing = Switch<DiskFaults.Fault>()
    let tier = try openTier(
      scratch, delivered: delivered, interval: .unreachable, faults: DiskFaults { failing.take() })
    let cache = try tier.cache(delivered: delivered)
    failing.set(.inputOutput)
    guard case .staged(let ticket) = cache.put("lost", bytes("new")) else {
      Issue.record("refused, although nothing has failed yet")
      return
    }
    await #expect(throws: CisternError.self) { try await cache.waitForCommit(ticket) }
    #expect(tier.statistics.mode == .degraded)
    // By this flush the disk is tried again, and works.
    let loss = await #expect(throws: CisternError.self) { try await tier.flush() }
    #expect(loss?.code == .diskFailed)
    #expect(tier.statistics.mode == .active)
    cache.put("kept", bytes("new"))
    try await tier.flush()
    #expect(cache.keys() == ["kept"])
    #expect(delivered.reportCodes == [.degraded, .recovered])
    try await tier.close()
  }

  @Test func `a removal counts while the file cannot be read, although no caller can see its record`() async throws {
    let scratch = TemporaryDirectory()
    // Only a flush commits: the writer thread must not look for the file while the test hides it.
    let tier = try openTier(scratch, interval: .unreachable)
    let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1))
    let cache = try store.cache("values", of: String.self, keyedBy: String.self)
    cache.setValue("old", forKey: "key")
    try await store.flush()
    store.trimMemory(to: .bytes(0))
    let file = tier.engine.file
    tier.engine.setFile(nil)
    #expect(cache.value(forKey: "key") == nil)
    cache.removeValue(forKey: "key")
    tier.engine.setFile(file)
    #expect(cache.value(forKey: "key") == nil)
    try await store.flush()
    #expect(cache.value(forKey: "key") == nil)
    try await store.close()
  }

  @Test(arguments: [false, true])
  func `a removal by a condition removes all records while the file cannot be read, and is reported`(
    isCommittedLater: Bool
  ) async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, interval: .unreachable)
    let reports = Recorder<StoreReport>()
    var configuration = Store.Configuration.ignoringMemoryPressure
    configuration.reportHandler = { reports.record($0) }
    let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1), configuration: configuration)
    let cache = try store.cache("values", of: String.self, keyedBy: String.self)
    for key in ["kept", "chosen", "unknown"] { cache[key] = key }
    try await store.flush()
    store.trimMemory(to: .bytes(0))
    _ = (cache["kept"], cache["chosen"])
    let file = tier.engine.file
    tier.engine.setFile(nil)
    var sets = cache.changeSets().makeAsyncIterator()
    #expect(cache.removeAll(where: { $0 != "kept" }) == 1)
    #expect(reports.elements.map(\.code) == [.degraded] && reports.elements.first?.cacheName == "values")
    var events: [String] = []
    for _ in 0..<3 { events += await sets.next()?.changes.map { "\($0.event)" } ?? [] }
    let removed = #"removed("chosen", CisternCore.RemovalCause.explicit)"#
    #expect(events == [removed, "cleared", #"inserted("kept", "kept")"#])
    tier.engine.setFile(file)
    if isCommittedLater { try await store.flush() }
    #expect(cache["kept"] == "kept" && cache["chosen"] == nil && cache["unknown"] == nil)
    // The tier can list its keys again.
    cache["other"] = "other"
    #expect(cache.removeAll(where: { $0 == "kept" }) == 1 && reports.count == 1)
    try await store.flush()
    store.trimMemory(to: .bytes(0))
    #expect(cache["kept"] == nil && cache["unknown"] == nil && cache["other"] == "other")
    #expect(cache.checkInvariants() == [])
    try await store.close()
  }

  @Test func `a removal of all that the disk failed to take is in force, and done when the disk is back`() async throws
  {
    let scratch = TemporaryDirectory()
    let failing = Switch<DiskFaults.Fault>()
    var tier = try openTier(scratch, faults: DiskFaults { failing.peek() })
    var cache = try tier.cache()
    for number in 0..<50 { cache.put("k\(number)", [1]) }
    try await tier.flush()
    failing.set(.inputOutput)
    _ = cache.stageRemovalOfAll()
    await #expect(throws: CisternError.self) { try await tier.flush() }
    for number in 0..<50 { #expect(cache.get("k\(number)") == nil) }
    failing.set(nil)
    try await tier.flush()
    #expect(cache.keys() == [])
    cache.put("new", [2])
    try await tier.flush()
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    tier = try openTier(scratch)
    cache = try tier.cache()
    #expect(cache.keys() == ["new"])
    try await tier.close()
  }

  @Test func `more removals than are kept while the disk fails empty the partition`() async throws {
    let scratch = TemporaryDirectory()
    let failing = Switch<DiskFaults.Fault>()
    let tier = try openTier(scratch, faults: DiskFaults { failing.peek() })
    let cache = try tier.cache()
    cache.put("old", [1])
    try await tier.flush()
    failing.set(.inputOutput)
    cache.put("trigger", [1])
    await #expect(throws: CisternError.self) { try await tier.flush() }
    for number in 0...DiskLimits.stagedCount {
      cache.put("n\(number)", [1])
      if cache.mustRemoveAll { _ = cache.stageRemovalOfAll() }
    }
    #expect(cache.get("old") == nil)
    #expect(cache.statistics.stagedCount < DiskLimits.stagedCount)
    failing.set(nil)
    await #expect(throws: CisternError.self) { try await tier.flush() }
    try await tier.flush()
    #expect(cache.keys() == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `before a write whose commit is waited for a failed disk is tried again`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let failing = Switch<DiskFaults.Fault>()
    let tier = try openTier(
      scratch, delivered: delivered, interval: .unreachable, faults: DiskFaults { failing.peek() })
    let cache = try tier.cache(delivered: delivered)
    failing.set(.inputOutput)
    cache.put("lost", bytes("new"))
    await #expect(throws: CisternError.self) { try await tier.flush() }
    await cache.prepareToCommit()
    guard case .refused = cache.put("refused", bytes("new")) else {
      Issue.record("taken, although the disk fails")
      return
    }
    failing.set(nil)
    await cache.prepareToCommit()
    guard case .staged(let ticket) = cache.put("kept", bytes("new")) else {
      Issue.record("refused, although the disk works again")
      return
    }
    try await cache.waitForCommit(ticket)
    #expect(cache.keys() == ["kept"])
    try? await tier.close()
  }

  @Test func `a try that a caller asks for puts off none of those that are due`() async throws {
    let scratch = TemporaryDirectory()
    let failing = Switch<DiskFaults.Fault>()
    let tier = try openTier(scratch, interval: .unreachable, faults: DiskFaults { failing.peek() })
    let cache = try tier.cache()
    failing.set(.inputOutput)
    cache.put("a", [1])
    await #expect(throws: CisternError.self) { try await tier.flush() }
    let due = tier.engine.monitor.withLock { $0.retryAt }
    #expect(due != nil)
    for _ in 0..<5 { await #expect(throws: CisternError.self) { try await tier.flush() } }
    #expect(tier.engine.monitor.withLock { $0.retryAt } == due)
    failing.set(nil)
    try? await tier.close()
  }
}
