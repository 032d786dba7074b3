import Cistern
import CisternDisk
import CisternTestSupport
import Testing

@testable import CisternCore

/// Batches that a disk does not take, in caches without memory.
struct DiskBatchRefusalTests {
  private struct Caches: Sendable {
    let store: Store
    /// The cache without memory.
    let disk: Cache<String, [UInt8]>
    let both: Cache<String, [UInt8]>

    init(_ scratch: TemporaryDirectory, isReadOnly: Bool = false, diskLimit: ByteCount = .mebibytes(1)) throws {
      var configuration: Store.Configuration = .ignoringMemoryPressure
      configuration.isReadOnly = isReadOnly
      store = try Store(
        directory: scratch.store, memoryLimit: .mebibytes(4), diskLimit: diskLimit, configuration: configuration)
      disk = try store.cache(
        "disk", of: [UInt8].self, keyedBy: String.self, configuration: .with { $0.tiers = .secondTierOnly })
      both = try store.cache("both", of: [UInt8].self, keyedBy: String.self)
    }

    /// Writes to both caches. Calls `meanwhile` in the closure of the batch.
    func writeToBoth(_ meanwhile: () -> Void = {}) throws {
      try store.batch { batch in
        batch.setValue([2], forKey: "a", in: disk)
        batch.setValue([2], forKey: "a", in: both)
        meanwhile()
      }
    }
  }

  @Test func `a batch in a read-only store throws if memory does not hold a cache, and values stay readable`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let writer = try Caches(scratch)
    try await writer.disk.commitValue([1], forKey: "a")
    try await writer.store.close()
    let reader = try Caches(scratch, isReadOnly: true)
    #expect(
      await CisternError.code { try reader.store.batch { $0.setValue([2], forKey: "a", in: reader.disk) } } == .readOnly
    )
    #expect(await CisternError.code { try reader.writeToBoth() } == .readOnly)
    #expect(await CisternError.code { try reader.disk.batch { $0.setValue([2], forKey: "a") } } == .readOnly)
    let draft = reader.store.draft()
    draft.setValue([2], forKey: "a", in: reader.disk)
    #expect(await CisternError.code { try draft.save() } == .readOnly)
    #expect(draft.writtenKeys(in: reader.disk) == ["a"])
    #expect(reader.disk["a"] == [1] && reader.both["a"] == nil)
    #expect(reader.store.reports.isEmpty)
    try await reader.store.close()
  }

  @Test(arguments: [true, false])
  func `a batch whose store closes in its closure throws and stores nothing`(isInMemory: Bool) async throws {
    let scratch = TemporaryDirectory()
    let caches = try Caches(scratch)
    try await caches.disk.commitValue([1], forKey: "a")
    let closing = Switch<Task<Void, any Error>>()
    let thrown = await CisternError.code {
      try caches.store.batch { batch in
        if !isInMemory { batch.setValue([2], forKey: "a", in: caches.disk) }
        batch.setValue([2], forKey: "a", in: caches.both)
        // The close runs on a thread of its own, because the closure blocks this one.
        closing.set(Task(executorPreference: ThreadPerJob()) { try await caches.store.close() })
        while !caches.store.isClosed {}
      }
    }
    #expect(thrown == .storeClosed)
    #expect(caches.both["a"] == nil)
    let closed = try #require(closing.take())
    try await closed.value
    let again = try Caches(scratch)
    #expect(again.disk["a"] == [1] && again.both["a"] == nil)
    try await again.store.close()
  }

  @Test func `a batch whose second tier closes before it begins throws, also if the store is open`() async throws {
    let scratch = TemporaryDirectory()
    let caches = try Caches(scratch)
    try await caches.disk.commitValue([1], forKey: "a")
    let tier = try #require(caches.store.shared.secondTier as? DiskTier)
    #expect(await CisternError.code { try caches.writeToBoth { _ = tier.detach() } } == .storeClosed)
    #expect(await CisternError.code { try caches.disk.batch { $0.setValue([2], forKey: "a") } } == .storeClosed)
    #expect(caches.both["a"] == nil)
    await tier.release()
    // The tier is closed, so that the close of the store has nothing to flush.
    #expect(await CisternError.code { try await caches.store.close() } == .storeClosed)
    let again = try Caches(scratch)
    #expect(again.disk["a"] == [1] && again.both["a"] == nil)
    try await again.store.close()
  }

  @Test func `a value with more tags than a record can have throws in a batch, which stores nothing`() async throws {
    let scratch = TemporaryDirectory()
    let caches = try Caches(scratch, diskLimit: .mebibytes(128))
    try await caches.disk.commitValue([1], forKey: "a")
    let tags = (0...Int(UInt16.max)).map { "\($0)" }
    func write(_ batch: StoreBatch) {
      batch.setValue([2], forKey: "a", in: caches.disk)
      batch.setValue([2], forKey: "b", in: caches.both, tags: tags)
    }
    let whole = #expect(throws: CisternError.self) { try caches.store.batch(write) }
    #expect(whole?.code == .tooLarge && whole?.recoverySuggestion == "Give the value fewer tags")
    #expect(await CisternError.code { try await caches.store.commitBatch(write) } == .tooLarge)
    #expect(
      await CisternError.code { try caches.disk.batch { $0.setValue([2], forKey: "a", tags: tags) } } == .tooLarge)
    #expect(caches.disk["a"] == [1] && caches.both["b"] == nil && caches.store.reports.isEmpty)
    // A write alone is in memory, and is reported.
    let alone = await #expect(throws: CisternError.self) {
      try await caches.both.commitValue([3], forKey: "b", tags: tags)
    }
    #expect(alone?.code == .tooLarge && alone?.recoverySuggestion == "Give the value fewer tags")
    #expect(caches.both["b"] == [3] && caches.store.reports.map(\.code) == [.refused])
    #expect(caches.store.reports.first?.message.hasSuffix(". Give the value fewer tags") == true)
    let lost = await #expect(throws: CisternError.self) {
      try await caches.disk.commitValue([3], forKey: "a", tags: tags)
    }
    #expect(lost?.message.contains("memory does not hold it") == true && caches.disk["a"] == nil)
    let allowed = Array(tags.dropLast())
    #expect(
      await CisternError.code { try await caches.disk.commitBatch { $0.setValue([4], forKey: "a", tags: allowed) } }
        == nil)
    #expect(caches.disk["a"] == [4])
    try await caches.store.close()
  }
}
