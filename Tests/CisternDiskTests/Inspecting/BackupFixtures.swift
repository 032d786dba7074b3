import CisternTestSupport
import Testing

@testable import CisternCore
@testable import CisternDisk

extension TemporaryDirectory {
  /// The directory of a backup.
  var copy: String { path + "/copy" }
}

/// Opens a backup, and requires that it is as a store left it: nothing is reported, and no page is checked.
func openCopy(
  _ scratch: TemporaryDirectory, _ name: String = "copy", limit: ByteCount = .mebibytes(16),
  layout: DiskLayout = .tested
) throws -> DiskTier {
  let delivered = DeliveredReports()
  let tier = try DiskTier(
    directory: scratch.path + "/" + name,
    options: DiskOptions(limit: limit, layout: layout, durability: .processCrash, commitInterval: .milliseconds(1))
  ) { report in delivered.reports.withLock { $0.append(report) } }
  #expect(delivered.reportCodes == [])
  #expect(tier.engine.counters.pagesChecked.load(ordering: .relaxed) == 0)
  return tier
}
