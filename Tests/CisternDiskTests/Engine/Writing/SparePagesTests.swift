import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The space for the transactions that make room on a full device.
@Suite struct SparePagesTests {
  private func spare(of file: DiskFile) throws -> Int {
    let information = try file.environment.information()
    return information.fileSize / information.pageSize - information.pageCount
  }

  @Test(arguments: [100, 900, 5000, 40_000])
  func `a growing file of ordered records has space behind its pages`(size: Int) async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, limit: .mebibytes(16), layout: .ordered)
    let cache = try tier.cache()
    for number in 0..<60 {
      cache.put("k\(number)", value(number, size: size))
      try await tier.flush()
      // LMDB takes some of them for its list of free pages.
      let file = try #require(tier.engine.file)
      #expect(try spare(of: file) >= file.layout.sparePages / 2, "after \(number) records")
    }
    try await tier.close()
  }

  @Test func `the space is no more than the limit`() async throws {
    let scratch = TemporaryDirectory()
    let limit = ByteCount.kibibytes(256)
    let tier = try openTier(scratch, limit: limit, layout: .ordered)
    let cache = try tier.cache()
    for number in 0..<300 {
      cache.put("k\(number)", value(number, size: 1000))
      try await tier.flush()
    }
    #expect(try scratch.dataFileSize <= limit.bytes)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  /// The last commits decide how many pages the smallest transactions find.
  @Test(arguments: [50, 100, 150], [1, 2, 10, 50])
  func `a store makes room whenever its device becomes full`(count: Int, perFlush: Int) throws {
    let store = try OverwrittenStore(count: count, perFlush: perFlush, layout: .ordered)
    #expect(store.newCount > count / 3)
    #expect(store.failures == 0 && store.defects == 0)
  }
}
