import CisternTestSupport
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Directories whose gate cannot be held when the file is closed or replaced.
@Suite struct HeldGateTests {
  private func tier(
    _ scratch: TemporaryDirectory, delivered: DeliveredReports, gate: Switch<DiskFaults.Fault>,
    commit: Switch<DiskFaults.Fault> = Switch(), durability: Durability = .processCrash
  ) throws -> DiskTier {
    var faults = DiskFaults { commit.take() }
    faults.atGate = { gate.take() }
    return try openTier(scratch, durability: durability, delivered: delivered, interval: .unreachable, faults: faults)
  }

  @Test(arguments: [Durability.processCrash, .powerCut])
  func `a store that closes without the gate leaves no file open, and the next one can have other limits`(
    durability: Durability
  ) async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let gate = Switch<DiskFaults.Fault>()
    let first = try tier(scratch, delivered: delivered, gate: gate, durability: durability)
    try first.cache().put("k", bytes("k"))
    try await first.flush()
    gate.set(.inputOutput)
    try await first.close()
    #expect(gate.peek() == nil)
    #expect(first.engine.mode == .closed)
    #expect(delivered.reportCodes == [.degraded])
    // A larger limit needs a larger map, which an open file does not get.
    let second = try openTier(scratch, limit: .mebibytes(32), durability: durability, delivered: delivered)
    #expect(try second.cache().get("k") == bytes("k"))
    #expect(second.engine.counters.pagesChecked.load(ordering: .relaxed) == 0)
    try await second.close()
    #expect(delivered.reportCodes == [.degraded])
  }

  @Test
  func `a file that cannot be replaced without the gate is closed, and opened again when the disk works`() async throws
  {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let (gate, commit) = (Switch<DiskFaults.Fault>(), Switch<DiskFaults.Fault>())
    let first = try tier(scratch, delivered: delivered, gate: gate, commit: commit)
    let cache = try first.cache()
    cache.put("before", bytes("before"))
    try await first.flush()
    commit.set(.corrupted)
    gate.set(.inputOutput)
    cache.put("lost", bytes("lost"))
    await #expect(throws: CisternError.self) { try await first.flush() }
    #expect(gate.peek() == nil)
    #expect(first.engine.mode == .degraded)
    try await first.flush()
    #expect(first.engine.mode == .active)
    cache.put("after", bytes("after"))
    try await first.flush()
    #expect(cache.keys() == ["before", "after"])
    #expect(first.checkInvariants() == [])
    try await first.close()
    let second = try openTier(scratch, limit: .mebibytes(32))
    #expect(try second.cache().keys() == ["before", "after"])
    try await second.close()
  }
}
