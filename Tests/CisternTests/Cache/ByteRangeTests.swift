import Cistern
import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Parts of encoded values, from memory, from the disk and from writes that wait for their commit.
@Suite struct ByteRangeTests {
  private enum Place: CaseIterable {
    case memory
    case disk
    case staged
  }

  private static let value = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
  private static let ranges = [
    0..<0, 0..<1, 0..<10_000, 9_999..<10_000, 10_000..<10_000, 4_095..<4_097, 9_990..<20_000, 10_000..<10_001,
    20_000..<30_000, -5..<3, -5..<0, Int.min..<Int.max,
  ]

  private func withCache(
    _ place: Place, _ body: (Cache<String, [UInt8]>) throws -> Void
  ) async throws {
    let scratch = TemporaryDirectory()
    let store =
      switch place {
      case .memory: try Store.inMemory(memoryLimit: .mebibytes(1))
      case .disk: try Store(directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(16))
      case .staged: try Store(secondTier: FaultInjectingTier(commits: .onDemand), memoryLimit: .mebibytes(1))
      }
    let cache = try store.cache("things", of: [UInt8].self, keyedBy: String.self)
    cache["value"] = Self.value
    cache["empty"] = []
    if place == .disk {
      try await store.flush()
      cache.trim(toCost: 0)
    }
    try body(cache)
    if place == .disk { try await store.close() }
  }

  @Test(arguments: Place.allCases)
  private func `a range gives the bytes that are inside of the value`(place: Place) async throws {
    try await withCache(place) { cache in
      for range in Self.ranges {
        let bytes = cache.withBytes(forKey: "value", in: range) { $0.copiedBytes() }
        #expect(bytes == Array(Self.value[range.clamped(to: 0..<Self.value.count)]), "\(range)")
        #expect(cache.withBytes(forKey: "empty", in: range) { $0.byteCount } == 0, "\(range)")
        #expect(cache.withBytes(forKey: "absent", in: range) { $0.byteCount } == nil)
      }
    }
  }

  @Test(arguments: Place.allCases)
  private func `an error of the closure reaches the caller`(place: Place) async throws {
    struct Refusal: Error {}
    try await withCache(place) { cache in
      #expect(throws: Refusal.self) {
        try cache.withBytes(forKey: "value", in: 0..<1) { (_) throws(Refusal) in throw Refusal() }
      }
    }
  }

  @Test func `a range of a value on disk does not bring the value into memory`() async throws {
    try await withCache(.disk) { cache in
      #expect(cache.withBytes(forKey: "value", in: 5..<9) { $0.copiedBytes() } == Array(Self.value[5..<9]))
      #expect(cache.statistics.memory.entryCount == 0 && cache.statistics.diskHits == 1)
    }
  }
}
