import CisternTestSupport
import Cistern
import Testing

/// The error codes of writes that wait for their commit and do not reach the disk.
struct DiskRefusalTests {
  private func open(_ scratch: TemporaryDirectory, isReadOnly: Bool = false) throws -> (Store, Cache<String, [UInt8]>) {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.isReadOnly = isReadOnly
    let store = try Store(
      directory: scratch.store, memoryLimit: .mebibytes(4), diskLimit: .mebibytes(1), configuration: configuration)
    return (store, try store.cache("bytes", of: [UInt8].self, keyedBy: String.self))
  }

  @Test func `a value too large for the disk throws tooLarge if awaited, and is always reported`() async throws {
    let scratch = TemporaryDirectory()
    let (store, cache) = try open(scratch)
    let large = [UInt8](repeating: 1, count: 500_000)
    let error = await #expect(throws: CisternError.self) { try await cache.commitValue(large, forKey: "a") }
    let remedy = "Raise the store's disk limit, or store smaller values"
    #expect(error?.code == .tooLarge && error?.recoverySuggestion == remedy)
    #expect(cache["a"] == large)
    cache["b"] = large
    #expect(store.reports.map(\.code) == [.refused, .refused])
    #expect(store.reports.allSatisfy { $0.message.hasSuffix(". \(remedy)") })
    #expect(await CisternError.code { try await cache.commitValue([1], forKey: "c") } == nil)
    try await store.close()
  }

  @Test func `every committing write to a read-only store throws readOnly`() async throws {
    let scratch = TemporaryDirectory()
    let (writer, cache) = try open(scratch)
    try await cache.commitValue([1], forKey: "a", tags: ["t"])
    try await writer.close()
    let (store, reader) = try open(scratch, isReadOnly: true)
    #expect(reader["a"] == [1])
    #expect(await CisternError.code { try await reader.commitValue([2], forKey: "b") } == .readOnly)
    #expect(await CisternError.code { try await reader.commitBatch { $0.setValue([2], forKey: "c") } } == .readOnly)
    #expect(reader["b"] == [2] && reader["c"] == [2])
    #expect(await CisternError.code { try await reader.commitRemoval(forKey: "a") } == .readOnly)
    #expect(await CisternError.code { try await reader.commitRemovalOfAll(tagged: "t") } == .readOnly)
    #expect(await CisternError.code { try await reader.commitRemovalOfAll(withPrefix: "a") } == .readOnly)
    #expect(await CisternError.code { try await store.flush() } == nil)
    #expect(store.reports.isEmpty)
    try await store.close()
    let (again, unchanged) = try open(scratch)
    #expect(unchanged["a"] == [1])
    try await again.close()
  }

  @Test func `every committing write to a closed store throws storeClosed`() async throws {
    let scratch = TemporaryDirectory()
    let (store, cache) = try open(scratch)
    try await store.close()
    #expect(await CisternError.code { try await cache.commitValue([1], forKey: "a") } == .storeClosed)
    #expect(await CisternError.code { try await cache.commitBatch { $0.setValue([2], forKey: "b") } } == .storeClosed)
    #expect(await CisternError.code { try await cache.commitRemovalOfAll(tagged: "t") } == .storeClosed)
    #expect(cache["a"] == [1])
  }

  @Test func `a write that a closed store loses throws or is reported, if memory does not hold the values`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let (store, _) = try open(scratch)
    var configuration = CacheConfiguration<[UInt8]>()
    configuration.tiers = .secondTierOnly
    let cache = try store.cache(
      "in the second tier", of: [UInt8].self, keyedBy: String.self, configuration: configuration)
    try await cache.commitValue([0], forKey: "a")
    try await store.close()
    #expect(store.reports.isEmpty)
    cache["a"] = [1]
    cache.updateValue(forKey: "b") { $0 = [2] }
    #expect(store.reports.map(\.code) == [.refused, .refused])
    #expect(store.reports.allSatisfy { $0.message.hasPrefix("the store is closed") })
    #expect(throws: CisternError.self) { try cache.batch { $0.setValue([3], forKey: "c") } }
    #expect(await CisternError.code { try await cache.commitBatch { $0.setValue([3], forKey: "c") } } == .storeClosed)
    #expect(await CisternError.code { try await cache.commitValue([4], forKey: "d") } == .storeClosed)
  }
}
