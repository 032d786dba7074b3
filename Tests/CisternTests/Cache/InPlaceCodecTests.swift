import Cistern
import CisternTestSupport
import CisternTesting
import Foundation
import Testing

@testable import CisternCore

/// Codecs that decode from the bytes of a record, without a copy.
@Suite struct InPlaceCodecTests {
  /// Records which of its functions decode. Three zeros are no value.
  private struct Spy: InPlaceCodec {
    let calls: Recorder<String>

    func encode(_ value: [UInt8]) -> [UInt8] { value }

    func decode(_ bytes: RawSpan) throws -> [UInt8] {
      calls.record("borrowed")
      let value = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
      if value == [0, 0, 0] { throw CodecError.wrongLength(expected: 1, actual: 3) }
      return value
    }

    func decode(_ bytes: [UInt8]) throws -> [UInt8] {
      calls.record("copied")
      return bytes
    }
  }

  /// A codec that implements only the span of bytes.
  private struct Borrowing: InPlaceCodec {
    func encode(_ value: Int) -> [UInt8] { [UInt8(value)] }
    func decode(_ bytes: RawSpan) -> Int { bytes.byteCount }
  }

  private let calls = Recorder<String>()
  private let scratch = TemporaryDirectory()

  private func openStore() throws -> Store {
    try Store(directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(16))
  }

  private func things(
    _ store: Store, expiry: Expiry = .never, version: UInt32 = 1
  ) throws -> Cache<String, [UInt8]> {
    var configuration = CacheConfiguration<[UInt8]>()
    configuration.schema = CacheSchema(version: version) { bytes, _ in bytes + [9] }
    return try store.cache(
      "things", codec: Spy(calls: calls), keyedBy: String.self, expiry: expiry, configuration: configuration)
  }

  @Test func `a value in memory is not decoded, and one on disk is decoded from borrowed bytes`() async throws {
    let store = try openStore()
    let things = try things(store)
    things["a"] = [1, 2]
    things["empty"] = []
    try await store.flush()
    #expect(things["a"] == [1, 2])
    #expect(calls.elements.isEmpty)
    things.trim(toCost: 0)
    #expect(things["a"] == [1, 2] && things["empty"] == [])
    #expect(calls.elements == ["borrowed", "borrowed"])
    things.trim(toCost: 0)
    #expect(try await things.value(forKey: "a") { _ in [7] } == [1, 2])
    #expect(try await things.values(forKeys: ["empty"]) { _ in [:] }["empty"] == [])
    #expect(calls.elements.allSatisfy { $0 == "borrowed" })
    #expect(things.statistics.memory.entryCount == 2)
    try await store.close()
  }

  @Test func `a value that waits for its commit is decoded from borrowed bytes`() throws {
    let tier = FaultInjectingTier(commits: .onDemand)
    let things = try things(Store(secondTier: tier, memoryLimit: .mebibytes(1)))
    things["a"] = [1, 2]
    things.trim(toCost: 0)
    #expect(things["a"] == [1, 2])
    #expect(things.find("a")?.value == [1, 2])
    #expect(calls.elements == ["borrowed"])
    #expect(things.checkInvariants() == [])
  }

  @Test func `a value with a time to idle is copied, because its record is written again`() throws {
    let clock = ManualClock()
    let store = try Store(
      secondTier: FaultInjectingTier(), memoryLimit: .mebibytes(1), configuration: .ignoringMemoryPressure(clock: clock)
    )
    let things = try things(store, expiry: .idle(.seconds(60)))
    things["a"] = [1]
    things.trim(toCost: 0)
    clock.advance(by: .seconds(50))
    #expect(things["a"] == [1])
    things.trim(toCost: 0)
    clock.advance(by: .seconds(50))
    #expect(things["a"] == [1])
    #expect(calls.elements == ["copied", "copied"])
  }

  @Test func `a record of an older version is migrated outside the read`() throws {
    let tier = FaultInjectingTier()
    try things(Store(secondTier: tier, memoryLimit: .mebibytes(1)))["a"] = [1]
    let newer = try things(Store(secondTier: tier, memoryLimit: .mebibytes(1)), version: 2)
    #expect(newer["a"] == [1, 9])
    #expect(calls.elements.isEmpty)
    newer.trim(toCost: 0)
    #expect(newer["a"] == [1, 9])
    #expect(calls.elements == ["borrowed"])
    #expect(newer.statistics.migrated == 1)
  }

  @Test func `an expired record is not decoded`() throws {
    let clock = ManualClock()
    let store = try Store(
      secondTier: FaultInjectingTier(), memoryLimit: .mebibytes(1), configuration: .ignoringMemoryPressure(clock: clock)
    )
    let things = try things(store, expiry: .after(.seconds(1)))
    things["a"] = [1]
    things.trim(toCost: 0)
    clock.advance(by: .seconds(2))
    #expect(things["a"] == nil)
    #expect(calls.elements.isEmpty)
    #expect(things.checkInvariants() == [])
  }

  @Test func `bytes that cannot be decoded are a miss, and the record is reported and removed`() async throws {
    let reports = Recorder<StoreReport.Code>()
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.reportHandler = { reports.record($0.code) }
    let tier = FaultInjectingTier()
    let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1), configuration: configuration)
    let things = try things(store)
    things["a"] = [0, 0, 0]
    things.trim(toCost: 0)
    #expect(things["a"] == nil)
    #expect(reports.elements == [.notDecodable])
    #expect(things.statistics.notDecodable == 1)
    #expect(things.withBytes(forKey: "a") { $0.byteCount } == nil)
    #expect(try await things.value(forKey: "a") { _ in [4] } == [4])
    #expect(things.checkInvariants() == [])
  }

  @Test func `a damaged record reaches neither the codec nor a reader of bytes`() async throws {
    let value = (0..<700).map { UInt8(truncatingIfNeeded: $0 &* 11) }
    let store = try openStore()
    try things(store)["a"] = value
    try await store.close()
    var data = try Data(contentsOf: scratch.dataFile)
    var start = data.startIndex
    while let range = data.range(of: Data(value), in: start..<data.endIndex) {
      data[range.lowerBound + 300] ^= 1
      start = range.upperBound
    }
    #expect(start > data.startIndex)
    try data.write(to: scratch.dataFile)
    let reopened = try openStore()
    let damaged = try things(reopened)
    #expect(damaged.withBytes(forKey: "a", in: 0..<10) { $0.byteCount } == nil)
    #expect(damaged["a"] == nil)
    #expect(calls.elements.isEmpty)
    try await reopened.close()
  }

  @Test func `a codec for spans only decodes arrays, too`() throws {
    let cache = try Store(secondTier: FaultInjectingTier(), memoryLimit: .mebibytes(1))
      .cache("numbers", codec: Borrowing(), keyedBy: String.self)
    cache["a"] = 7
    cache.trim(toCost: 0)
    #expect(cache["a"] == 1)
    #expect(try Borrowing().decode([1, 2, 3]) == 3)
  }

  @Test func `absence is no value of the codec`() throws {
    let cache: Cache<String, [UInt8]?> = try Store(secondTier: FaultInjectingTier(), memoryLimit: .mebibytes(1))
      .cache("things", codec: OptionalCodec(Spy(calls: calls)), keyedBy: String.self)
    cache["a"] = .some(nil)
    cache["b"] = .some([1])
    cache.trim(toCost: 0)
    #expect(cache["a"] == .some(nil) && cache["b"] == .some([1]))
    #expect(calls.elements == ["borrowed"])
  }

  @Test func `strings, data and numbers are the same from arrays and from borrowed bytes`() throws {
    for text in ["", "a", "é\u{301}", String(repeating: "long ", count: 100)] {
      let bytes = Array(text.utf8)
      #expect(try Array(decode(bytes, by: StringCodec()).unicodeScalars) == Array(text.unicodeScalars))
      #expect(try decode(bytes, by: DataCodec()) == Data(bytes))
    }
    #expect(throws: CodecError.invalidUTF8) { try decode([0xff], by: StringCodec()) }
    #expect(try decode([1, 2, 0, 0x80], by: FixedWidthCodec<Int32>()) == -2_147_483_135)
    #expect(throws: CodecError.wrongLength(expected: 4, actual: 0)) { try decode([], by: FixedWidthCodec<Int32>()) }
    let number = FloatingPointCodec<Double>()
    #expect(try decode(number.encode(-0.5), by: number) == -0.5)
  }

  private func decode<Decoder: InPlaceCodec>(_ bytes: [UInt8], by codec: Decoder) throws -> Decoder.Value {
    let span = bytes.rawSpan
    return try codec.decode(span)
  }
}
