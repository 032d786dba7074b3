import CisternTestSupport
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
}
