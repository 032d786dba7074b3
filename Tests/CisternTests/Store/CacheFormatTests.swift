import CisternTestSupport
import Cistern
import Foundation
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The codec of a cache. Records are never read with a codec other than their own.
@Suite struct CacheFormatTests {
  private struct Article: Codable, Sendable, Equatable {
    var title: String
  }

  /// A user's codec with only the required members.
  private struct ReversingCodec: Codec {
    func encode(_ value: [UInt8]) -> [UInt8] { value.reversed() }
    func decode(_ bytes: [UInt8]) -> [UInt8] { bytes.reversed() }
  }

  private func open(_ scratch: TemporaryDirectory, isReadOnly: Bool = false) throws -> Store {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.isReadOnly = isReadOnly
    return try Store(
      directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(16), configuration: configuration)
  }

  /// Opens a cache in code that only knows that the values are `Codable`.
  private func generic<Value: Codable & Sendable>(
    _ name: String, of type: Value.Type, in store: Store
  ) throws -> Cache<String, Value> {
    try store.cache(name, of: Value.self, keyedBy: String.self)
  }

  /// Opens a cache in code that also knows that the values are optional.
  private func genericOptional<Wrapped: Codable & Sendable>(
    _ name: String, of type: Wrapped.Type, in store: Store
  ) throws -> Cache<String, Wrapped?> {
    try store.cache(name, of: Wrapped?.self, keyedBy: String.self)
  }

  @Test func `generic code gets the same codec as code that knows the type`() throws {
    func identifier<Value: Sendable>(_ cache: Cache<String, Value>) -> String? { cache.codec?.formatIdentifier }
    let store = try Store.inMemory(memoryLimit: .mebibytes(1))
    #expect(try identifier(generic("1", of: [UInt8].self, in: store)) == "bytes")
    #expect(try identifier(generic("2", of: Data.self, in: store)) == "bytes")
    #expect(try identifier(generic("3", of: String.self, in: store)) == "utf-8")
    #expect(try identifier(generic("4", of: Int.self, in: store)) == "int64")
    #expect(try identifier(generic("5", of: UInt8.self, in: store)) == "uint8")
    #expect(try identifier(generic("6", of: Double.self, in: store)) == "float64")
    #expect(try identifier(generic("7", of: Float?.self, in: store)) == "float32")
    #expect(try identifier(generic("8", of: Article.self, in: store)) == "json")
    #expect(try identifier(generic("9", of: [Int].self, in: store)) == "json")
    #expect(try identifier(generic("10", of: Article?.self, in: store)) == "json")
    #expect(try identifier(genericOptional("11", of: String.self, in: store)) == "utf-8")
    #expect(try identifier(genericOptional("12", of: Article.self, in: store)) == "json")
    // The same calls with the known types.
    #expect(try store.cache("1", of: [UInt8].self, keyedBy: String.self) === generic("1", of: [UInt8].self, in: store))
    #expect(try store.cache("2", of: Data.self, keyedBy: String.self) === generic("2", of: Data.self, in: store))
    #expect(try store.cache("3", of: String.self, keyedBy: String.self) === generic("3", of: String.self, in: store))
    #expect(try store.cache("4", of: Int.self, keyedBy: String.self) === generic("4", of: Int.self, in: store))
    #expect(try store.cache("6", of: Double.self, keyedBy: String.self) === generic("6", of: Double.self, in: store))
    #expect(try store.cache("7", of: Float?.self, keyedBy: String.self) === generic("7", of: Float?.self, in: store))
    #expect(
      try store.cache("11", of: String?.self, keyedBy: String.self) === generic("11", of: String?.self, in: store))
  }

  @Test func `values stored by generic code are read by concrete code after reopening, nil included`() async throws {
    let scratch = TemporaryDirectory()
    var store = try open(scratch)
    try generic("bytes", of: [UInt8].self, in: store)["k"] = [1, 2]
    try generic("number", of: Int?.self, in: store).setValue(nil, forKey: "nil")
    try generic("number", of: Int?.self, in: store).setValue(7, forKey: "seven")
    try generic("article", of: Article?.self, in: store).setValue(nil, forKey: "nil")
    try generic("article", of: Article?.self, in: store).setValue(Article(title: "a"), forKey: "a")
    try await store.close()
    store = try open(scratch)
    #expect(try store.cache("bytes", of: [UInt8].self, keyedBy: String.self)["k"] == [1, 2])
    let numbers = try store.cache("number", of: Int?.self, keyedBy: String.self)
    #expect(numbers.isKnownAbsent("nil"))
    #expect(numbers["seven"] == .some(7))
    let articles = try store.cache("article", of: Article?.self, keyedBy: String.self)
    #expect(articles.isKnownAbsent("nil"))
    #expect(articles["a"] == .some(Article(title: "a")))
    try await store.close()
  }

  @Test func `a cache does not open with a codec other than the one of its records`() async throws {
    let scratch = TemporaryDirectory()
    var store = try open(scratch)
    try store.cache("c", codec: JSONCodec<[UInt8]>(), keyedBy: String.self)["k"] = [1]
    try await store.close()
    for isReadOnly in [false, true] {
      store = try open(scratch, isReadOnly: isReadOnly)
      let error = #expect(throws: CisternError.self) {
        _ = try store.cache("c", of: [UInt8].self, keyedBy: String.self)
      }
      #expect(error?.code == .conflictingOpen)
      #expect(error?.message.contains("\"json\", not by \"bytes\"") == true)
      #expect(throws: CisternError.self) { _ = try store.cache("c", codec: ReversingCodec(), keyedBy: String.self) }
      #expect(try store.cache("c", codec: JSONCodec<[UInt8]>(), keyedBy: String.self)["k"] == [1])
      try await store.close()
    }
  }

  @Test func `a new schema version may have another codec`() async throws {
    let scratch = TemporaryDirectory()
    var store = try open(scratch)
    try store.cache("c", codec: JSONCodec<[UInt8]>(), keyedBy: String.self)["k"] = [1]
    try await store.close()
    var configuration = CacheConfiguration<[UInt8]>()
    configuration.schema = CacheSchema(version: 1) { bytes, _ in
      try JSONDecoder().decode([UInt8].self, from: Data(bytes))
    }
    store = try open(scratch)
    let cache = try store.cache("c", of: [UInt8].self, keyedBy: String.self, configuration: configuration)
    #expect(cache["k"] == [1])
    try await store.close()
    store = try open(scratch)
    #expect(throws: CisternError.self) {
      _ = try store.cache("c", codec: ReversingCodec(), keyedBy: String.self, configuration: configuration)
    }
    // The older version keeps its codec.
    #expect(throws: CisternError.self) { _ = try store.cache("c", of: [UInt8].self, keyedBy: String.self) }
    _ = try store.cache("c", codec: JSONCodec<[UInt8]>(), keyedBy: String.self)
    try await store.close()
  }

  @Test func `a cache whose file names no codec opens with any, and its next commit stores the codec`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, durability: .powerCut)
    try tier.cache("c").put("k", bytes("\"text\""))
    try await tier.close()
    // The store was opened without a write, so the codec is still undetermined.
    var store = try Store(directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(16))
    #expect(try store.cache("c", of: [UInt8].self, keyedBy: String.self)["k"] == bytes("\"text\""))
    try await store.close()
    store = try open(scratch)
    let cache = try store.cache("c", codec: JSONCodec<String>(), keyedBy: String.self)
    #expect(cache["k"] == "text")
    try await cache.commitValue("more", forKey: "l")
    try await store.close()
    store = try open(scratch)
    #expect(throws: CisternError.self) { _ = try store.cache("c", of: [UInt8].self, keyedBy: String.self) }
    try await store.close()
  }

  @Test func `an opening that fails because another one came first leaves no codec`() async throws {
    let scratch = TemporaryDirectory()
    let store = try open(scratch)
    let entered = Switch<Cache<String, [UInt8]>>()
    var configuration = CacheConfiguration<[UInt8]>()
    configuration.schema = CacheSchema(version: 1) { bytes, _ in
      try JSONDecoder().decode([UInt8].self, from: Data(bytes))
    }
    let error = #expect(throws: CisternError.self) {
      _ = try store.open(
        "c", codec: ValueCodec(BytesCodec()), expiry: .never, configuration: configuration,
        bind: { partition -> SecondTierBinding<String> in
          // As if another thread opened the cache at this time.
          entered.set(try? store.cache("c", codec: JSONCodec<[UInt8]>(), keyedBy: String.self))
          return SecondTierBinding(partition)
        })
    }
    #expect(error?.code == .conflictingOpen)
    let cache = try #require(entered.take())
    try await cache.commitValue([1], forKey: "k")
    try await store.close()
    let again = try open(scratch)
    let newer = try again.cache("c", codec: JSONCodec<[UInt8]>(), keyedBy: String.self, configuration: configuration)
    #expect(newer["k"] == [1])
    try await again.close()
  }

  @Test func `the file names a codec once an opening with it has succeeded`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
    let partition = try tier.cache("c")
    func format(_ codec: String, _ version: UInt32) -> ValueFormat { ValueFormat(codec: codec, schemaVersion: version) }
    try partition.register(format("one", 0))?.confirm()
    // Of two openings with one format, only the second one succeeds.
    try partition.register(format("one", 1))
    try partition.register(format("one", 1))?.confirm()
    partition.unregister(format("one", 1))
    try partition.register(format("one", 2))
    for version in 0...2 as ClosedRange<UInt32> {
      #expect(throws: CisternError.self) { try partition.register(format("two", version)) }
    }
    partition.put("k", [1])
    try await tier.flush()
    partition.unregister(format("one", 2))
    try partition.register(format("two", 2))
    try await tier.close()
    let again = try openTier(scratch)
    for version in 0...1 as ClosedRange<UInt32> {
      #expect(throws: CisternError.self) { try again.cache("c").register(format("two", version)) }
    }
    try again.cache("c").register(format("three", 2))
    try await again.close()
  }

  @Test func `an empty file that replaces a damaged one stores the codec again`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let fails = Switch<Bool>()
    let tier = try openTier(
      scratch, delivered: delivered, faults: DiskFaults { fails.peek() == true ? .corrupted : nil })
    let partition = try tier.cache("c")
    try partition.register(ValueFormat(codec: "one", schemaVersion: 0))?.confirm()
    partition.put("k", [1])
    try await tier.flush()
    fails.set(true)
    partition.put("k", [2])
    while !delivered.reportCodes.contains(.setAside) { await Task.yield() }
    fails.set(nil)
    try? await tier.flush()
    partition.put("k", [3])
    try await tier.flush()
    try await tier.close()
    let again = try openTier(scratch)
    #expect(throws: CisternError.self) { try again.cache("c").register(ValueFormat(codec: "two", schemaVersion: 0)) }
    try again.cache("c").register(ValueFormat(codec: "one", schemaVersion: 0))
    try await again.close()
  }

  @Test func `a user's codec is identified by the name of its type`() throws {
    #expect(ReversingCodec().formatIdentifier == "ReversingCodec")
    #expect(JSONCodec<Article>().formatIdentifier == "json")
    #expect(PropertyListCodec<Article>().formatIdentifier == "property-list")
  }
}
