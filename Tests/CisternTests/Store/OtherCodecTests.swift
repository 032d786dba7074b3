import Cistern
import CisternTestSupport
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Caches whose codec is not the one that the file names, which only a commit finds.
struct OtherCodecTests {
  /// Registers a cache's format while the file cannot be read, or before another process writes its format.
  private static func registerUnread(_ format: ValueFormat, in partition: DiskPartition) throws {
    let result = partition.partition.formats.register(format)
    guard case .registered(let registration) = result else { throw Broken() }
    registration.confirm()
  }

  @Test func `a commit stores no records of a codec other than the one that the file names`() async throws {
    let scratch = TemporaryDirectory()
    let first = try openTier(scratch)
    let original = try first.cache("c")
    try original.register(ValueFormat(codec: "one", schemaVersion: 0))?.confirm()
    for key in ["k", "l"] { original.put(key, [1]) }
    try await first.flush()
    try await first.close()

    let delivered = DeliveredReports()
    let second = try openTier(scratch, delivered: delivered)
    let partition = try #require(try second.cache("c", delivered: delivered) as? DiskPartition)
    for version in 0...1 as ClosedRange<UInt32> {
      try Self.registerUnread(ValueFormat(codec: "two", schemaVersion: version), in: partition)
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
    #expect(throws: CisternError.self) { try partition.register(ValueFormat(codec: "two", schemaVersion: 0)) }
    // The removals of the values that were not written leave the records of the other codec.
    try await second.flush()
    try await second.close()

    let third = try openTier(scratch)
    let again = try third.cache("c")
    #expect(again.keys() == ["k", "l", "n"])
    #expect(again.get("k") == [1] && again.get("l") == [1])
    try again.register(ValueFormat(codec: "one", schemaVersion: 0))
    try again.register(ValueFormat(codec: "two", schemaVersion: 1))
    try await third.close()
  }

  @Test func `a batch with a record of a codec other than the one that the file names is not committed in part`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let first = try openTier(scratch)
    let original = try first.cache("c")
    try original.register(ValueFormat(codec: "one", schemaVersion: 0))?.confirm()
    original.put("k", [1])
    try await first.flush()
    try await first.close()

    let second = try openTier(scratch)
    let partition = try #require(try second.cache("c") as? DiskPartition)
    let other = try second.cache("d")
    try Self.registerUnread(ValueFormat(codec: "two", schemaVersion: 0), in: partition)
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
  @Test(arguments: [DiskLayout.dense, .ordered])
  func `records of a codec other than the one of the cache are absent for it and stay in the file`(
    layout: DiskLayout
  ) async throws {
    let scratch = TemporaryDirectory()
    let first = try openTier(scratch, layout: layout)
    let original = try first.cache("c")
    try original.register(ValueFormat(codec: "one", schemaVersion: 0))?.confirm()
    for key in ["k", "l", "m"] { original.put(key, [1]) }
    try await first.flush()
    try await first.close()

    let second = try openTier(scratch, layout: layout)
    let partition = try #require(try second.cache("c") as? DiskPartition)
    for version in 0...1 as ClosedRange<UInt32> {
      try Self.registerUnread(ValueFormat(codec: "two", schemaVersion: version), in: partition)
    }
    partition.put("k", [2])
    partition.remove("l")
    let metadata = DiskPartition.metadata().with { $0.schemaVersion = 1 }
    for key in ["n", "o"] { _ = partition.stage(.record(key: bytes(key), metadata, bytes: [2])) }
    await #expect(throws: CisternError.self) { try await second.flush() }
    try await second.flush()
    for key in ["k", "l", "m"] {
      #expect(partition.get(key) == nil && !partition.has(bytes(key)))
    }
    #expect(partition.get("n") == [2])
    #expect(partition.keys() == ["n", "o"])
    let enumerated = try partition.records(in: RecordRange(after: nil, limit: 100)).count
    #expect(enumerated == 2)
    partition.remove("m")
    partition.remove("n")
    try await second.flush()
    try await second.close()

    let third = try openTier(scratch, layout: layout)
    let again = try third.cache("c")
    #expect(again.keys() == ["k", "l", "m", "o"])
    for key in ["k", "l", "m"] { #expect(again.get(key) == [1]) }
    try await third.close()
  }

  @Test func `a look-up leaves a record that it cannot decode if the file names another codec`() async throws {
    let scratch = TemporaryDirectory()
    let first = try openTier(scratch)
    let original = try first.cache("c")
    try original.register(ValueFormat(codec: "utf-8", schemaVersion: 0))?.confirm()
    original.put("k", [1])
    try await first.flush()
    try await first.close()

    let second = try openTier(scratch)
    let partition = try #require(try second.cache("c") as? DiskPartition)
    try Self.registerUnread(ValueFormat(codec: "int64", schemaVersion: 0), in: partition)
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.durability = .processCrash
    configuration.commitInterval = .milliseconds(1)
    configuration.diskLayout = .tested
    let store = try Store(
      directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(16), configuration: configuration)
    let cache = try store.cache("c", of: Int.self, keyedBy: String.self)
    #expect(cache["k"] == nil)
    #expect(cache.statistics.notDecodable == 0)
    #expect(!store.reports.map(\.code).contains(.notDecodable))
    try await store.flush()
    try await store.close()
    try await second.close()

    let third = try openTier(scratch)
    #expect(try third.cache("c").get("k") == [1])
    try await third.close()
  }
}
