import CisternTestSupport
import CisternTesting
import Foundation
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Processes that are killed while they convert a file to another layout.
@Suite(.serialized) struct DiskConversionProcessTests {
  private let scratch = TemporaryDirectory()
  private let delivered = DeliveredReports()

  private func open(_ layout: DiskLayout?) throws -> DiskTier {
    let options = DiskOptions(
      limit: .mebibytes(8), layout: layout, durability: .processCrash, commitInterval: .milliseconds(1))
    return try DiskTier(directory: scratch.store, options: options) { report in
      delivered.reports.withLock { $0.append(report) }
    }
  }

  /// The number of the data file, which a conversion replaces at its end.
  private var fileNumber: UInt64? {
    (try? FileManager.default.attributesOfItem(atPath: "\(scratch.store)/\(DiskDirectory.data)"))
      .flatMap { ($0[.systemFileNumber] as? NSNumber)?.uint64Value }
  }

  /// The size of the copy that a conversion writes.
  private var copiedBytes: Int {
    [DiskDirectory.rewritten, DiskDirectory.copy]
      .compactMap { DiskDirectory.fileSize("\(scratch.store)/\($0)/\(DiskDirectory.data)") }.max() ?? 0
  }

  /// Each round converts the file to the other layout, and kills the process when the copy has a random size.
  ///
  /// The kill comes before, during or after the copy, or after the replacement of the file. This depends on the speed
  /// of the process. In each case, the file has all values, and the next opening leaves no copy.
  @Test func `each value is in the file of either layout`() async throws {
    var generator = SeededGenerator(seed: 9)
    var tier = try open(.ordered)
    var cache = try tier.cache(delivered: delivered)
    for number in 0..<1200 {
      cache.put("k\(number)", value(number, size: number % 1500))
      await cache.waitForRoom()
    }
    try await tier.close()
    for round in 0..<8 {
      tier = try open(nil)
      let former = tier.engine.layout
      try await tier.close()
      let number = fileNumber
      let next: DiskLayout = former == .dense ? .ordered : .dense
      let child = try ChildProcess(
        "open", scratch.store, "\(8 << 20)", "processCrash", "layout=\(next.rawValue)")
      let enough = Int.random(in: 0..<2 << 20, using: &generator)
      while copiedBytes < enough, fileNumber == number, !child.hasEnded { await Task.yield() }
      #expect(!child.hasEnded, "round \(round)")
      _ = child.kill()
      tier = try open(nil)
      cache = try tier.cache(delivered: delivered)
      for number in 0..<1200 {
        try #require(cache.get("k\(number)") == value(number, size: number % 1500), "\(number) in round \(round)")
      }
      #expect(tier.checkInvariants() == [])
      #expect(copiedBytes == 0)
      try await tier.close()
    }
    #expect(delivered.reportCodes == [] && delivered.lost(.evicted) == [])
  }
}
