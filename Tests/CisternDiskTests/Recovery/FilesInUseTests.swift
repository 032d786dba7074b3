import CisternTestSupport
import CisternTesting
import Foundation
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Openings of files that another process has open.
@Suite struct FilesInUseTests {
  private func environmentOptions(_ scratch: TemporaryDirectory) throws -> EnvironmentOptions {
    DiskOpening(
      directory: scratch.store, options: DiskOptions(limit: .mebibytes(16)),
      limits: try DiskLimits(.mebibytes(16), location: "")
    ).environmentOptions()
  }

  @Test func `a file of a later format that another process has open stays, and the opening says so`() async throws {
    let scratch = TemporaryDirectory()
    let child = try ChildProcess("replace", scratch.store, "\(16 << 20)", "processCrash")
    #expect(child.readLine() == "replaced")
    // As a later version would have written it.
    let file = try DiskFile.open(
      directory: scratch.store, options: environmentOptions(scratch), layout: .any(beginning: .dense))
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.put(MetaTable.value(UInt64(1000)), forKey: MetaTable.format, in: file.meta)
    }
    try file.close()
    let delivered = DeliveredReports()
    let mark = URL(fileURLWithPath: "\(scratch.store)/\(DiskDirectory.mark)")
    let former = try Data(contentsOf: mark)
    let error = #expect(throws: CisternError.self) { _ = try openTier(scratch, delivered: delivered) }
    #expect(error?.code == .storeInUse && error?.message.contains("format") == true)
    #expect(delivered.reportCodes == [])
    #expect(try Data(contentsOf: mark) == former)
    let names = try FileManager.default.contentsOfDirectory(atPath: scratch.store)
    #expect(!names.contains { $0.contains("set-aside") })
    _ = child.kill()
  }

  @Test func `a file that begins in place of a removed one does not share the lock file of its writers`() async throws {
    let scratch = TemporaryDirectory()
    let child = try ChildProcess("replace", scratch.store, "\(16 << 20)", "processCrash")
    #expect(child.readLine() == "replaced")
    let lock = "\(scratch.store)/\(DiskDirectory.lock)"
    let former = try FileManager.default.attributesOfItem(atPath: lock)[.systemFileNumber] as? UInt64
    // The child keeps its file open, so that no other one gets its number.
    let kept = try FileHandle(forReadingFrom: URL(fileURLWithPath: lock))
    try FileManager.default.removeItem(at: scratch.dataFile)
    let tier = try openTier(scratch)
    let cache = try tier.cache()
    cache.put("k", bytes("new"))
    try await tier.flush()
    let current = try FileManager.default.attributesOfItem(atPath: lock)[.systemFileNumber] as? UInt64
    #expect(former != nil && current != nil && former != current)
    #expect(cache.get("k") == bytes("new"))
    try await tier.close()
    try kept.close()
    _ = child.kill()
  }
}
