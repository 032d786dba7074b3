import CisternTestSupport
import CisternTesting
import Foundation
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Files without synchronized commits that could not be written through at their end.
///
/// The system reports that only once. The next write-through succeeds, although the device lacks pages.
@Suite struct FailedSynchronizationTests {
  private let scratch = TemporaryDirectory()

  private func open(
    _ durability: Durability = .processCrash, failing fault: DiskFaults.Fault? = nil,
    _ delivered: DeliveredReports = DeliveredReports()
  ) throws -> DiskTier {
    var faults = DiskFaults()
    faults.atSynchronization = { fault }
    return try openTier(scratch, durability: durability, delivered: delivered, interval: .unreachable, faults: faults)
  }

  /// Opens the store, and returns its reports and the number of its records. Then closes it.
  private func opening() async throws -> (reports: [StoreReport.Code], count: Int) {
    let delivered = DeliveredReports()
    let tier = try open(.processCrash, failing: nil, delivered)
    let count = try tier.cache().keys().count
    try await tier.close()
    return (delivered.reportCodes, count)
  }

  private func changeMark(_ change: (inout BootMark) -> Void) throws {
    let url = scratch.url("store/cistern.mark")
    var mark = BootMark([UInt8](try Data(contentsOf: url))[...])
    change(&mark)
    // In place, because the open store has a claim on the file.
    let handle = try FileHandle(forWritingTo: url)
    try handle.write(contentsOf: mark.bytes)
    try handle.close()
  }

  @Test func `a file that the closing store could not write through is set aside`() async throws {
    let delivered = DeliveredReports()
    let tier = try open(.processCrash, failing: .inputOutput, delivered)
    try tier.cache().put("k", [1])
    try await tier.close()
    #expect(delivered.reportCodes == [.degraded])
    let first = try await opening()
    #expect(first.reports == [.setAside] && first.count == 0)
    #expect(try await opening().reports == [])
  }

  @Test func `a file that an opening for synchronized commits could not write through is set aside`() async throws {
    try await fill(scratch, count: 10)
    try changeMark { ($0.state, $0.boot) = (.unsynchronized, currentBoot()) }
    #expect(throws: CisternError.self) { _ = try open(.powerCut, failing: .inputOutput) }
    let first = try await opening()
    #expect(first.reports == [.setAside] && first.count == 0)
  }

  @Test(arguments: [false, true])
  func `a close keeps the distrust of another process in the file, but not in a new one`(isNew: Bool) async throws {
    try await fill(scratch, count: 10)
    let tier = try open()
    try changeMark { $0.state = .failed }
    if isNew {
      try FileManager.default.removeItem(at: scratch.dataFile)
      try tier.cache().put("new", [1])
      try await tier.flush()
    }
    try await tier.close()
    let first = try await opening()
    #expect(first.reports == (isNew ? [] : [.setAside]) && first.count == (isNew ? 1 : 0))
  }
}
