import CisternTestSupport
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Caches whose codec is not the one that the file names, which only a commit finds.
struct OtherCodecTests {
  /// Opens a cache's format while the file cannot be read, or before another process writes its format.
  private static func adoptUnread(_ format: ValueFormat, in partition: DiskPartition) throws {
    let adoption = partition.partition.formats.adopt(format)
    guard case .claimed(let claim) = adoption else { throw Broken() }
    claim.confirm()
  }

  @Test func `a commit stores no records of a codec other than the one that the file names`() async throws {
    let scratch = TemporaryDirectory()
    let first = try openTier(scratch)
    let original = try first.cache("c")
    try original.adopt(ValueFormat(codec: "one", schemaVersion: 0))?.confirm()
    for key in ["k", "l"] { original.put(key, [1]) }
    try await first.flush()
    try await first.close()

    let delivered = DeliveredReports()
    let second = try openTier(scratch, delivered: delivered)
    let partition = try #require(try second.cache("c", delivered: delivered) as? DiskPartition)
    for version in 0...1 as ClosedRange<UInt32> {
      try Self.adoptUnread(ValueFormat(codec: "two", schemaVersion: version), in: partition)
    }
    partition.put("k", [2])
    partition.put("m", [2])
    let metadata = DiskPartition.metadata().with { $0.schemaVersion = 1 }
    _ = partition.stage(.record(key: bytes("n"), metadata, bytes: [2]))
    let error = await #expect(throws: CisternError.self) { try await second.flush() }
    #expect(error?.code == .conflictingOpen)
    #expect(Set(delivered.lost(.notWritten)) == [bytes("k"), bytes("m")])
    partition.put("o", [2])
    await #expect(throws: CisternError.self) { try await second.flush() }
    #expect(delivered.reportCodes == [.refused])
    #expect(throws: CisternError.self) { try partition.adopt(ValueFormat(codec: "two", schemaVersion: 0)) }
    // The removals of the values that were not written.
    try await second.flush()
    try await second.close()

    let third = try openTier(scratch)
    let again = try third.cache("c")
    #expect(again.keys() == ["l", "n"])
    #expect(again.get("l") == [1])
    try again.adopt(ValueFormat(codec: "one", schemaVersion: 0))
    try again.adopt(ValueFormat(codec: "two", schemaVersion: 1))
    try await third.close()
  }

  @Test func `a batch with a record of a codec other than the one that the file names is not committed in part`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let first = try openTier(scratch)
    let original = try first.cache("c")
    try original.adopt(ValueFormat(codec: "one", schemaVersion: 0))?.confirm()
    original.put("k", [1])
    try await first.flush()
    try await first.close()

    let second = try openTier(scratch)
    let partition = try #require(try second.cache("c") as? DiskPartition)
    let other = try second.cache("d")
    try Self.adoptUnread(ValueFormat(codec: "two", schemaVersion: 0), in: partition)
    let batch = partition.beginBatch()
    _ = other.stage(DiskPartition.write(bytes("k"), [2]), in: batch)
    _ = partition.stage(DiskPartition.write(bytes("l"), [2]), in: batch)
    _ = partition.endBatch(batch)
    await #expect(throws: CisternError.self) { try await second.flush() }
    try await second.flush()
    try await second.close()

    let third = try openTier(scratch)
    #expect(try third.cache("c").keys() == ["k"])
    #expect(try third.cache("d").keys() == [])
    try await third.close()
  }
}
