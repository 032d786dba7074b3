import Cistern

/// A store on disk whose memory can hold none of its values, so that each lookup reads from disk.
package final class StockedDisk: Sendable {
  package let store: Store
  package let cache: Cache<Int, [UInt8]>
  /// All keys, in random order.
  package let keys: [Int]
  private let scratch = TemporaryDirectory()

  package init(
    entries: Int, size: Int, limit: ByteCount = .gibibytes(1), durability: Durability = .powerCut,
    layout: DiskLayout? = nil
  ) async throws {
    var configuration = Store.Configuration()
    configuration.durability = durability
    configuration.diskLayout = layout
    store = try Store(
      directory: scratch("cistern"), memoryLimit: .bytes(1), diskLimit: limit, configuration: configuration)
    cache = try store.cache("values", of: [UInt8].self, keyedBy: Int.self)
    var randomness = Randomness(seed: 9)
    keys = (0..<entries).map(Int.key).shuffled(using: &randomness)
    let value = [UInt8](repeating: 7, count: size)
    for key in keys { cache.setValue(value, forKey: key) }
    try await store.flush()
  }

  /// Looks up a key, and sets a value of this size if it has none. Returns whether it had one.
  package func request(_ key: Int, size: Int) -> Bool {
    if cache.value(forKey: key) != nil { return true }
    cache.setValue([UInt8](repeating: 7, count: size), forKey: key)
    return false
  }

  /// Waits for all writes, and returns the bytes of all values, divided by the limit.
  package func share(of limit: ByteCount) async throws -> Double {
    try await store.flush()
    var bytes = 0
    for try await entry in cache.entries() { bytes += entry.value()?.count ?? 0 }
    return Double(bytes) / Double(limit.bytes)
  }

  package func close() async throws {
    try await store.close()
    scratch.remove()
  }
}

/// The same values in LMDB itself.
package final class StockedDirect: @unchecked Sendable {
  // Sendable: benchmarks use the object on one thread at a time.
  package let direct: DirectLMDB
  package let keys: [Int]
  private let scratch = TemporaryDirectory()

  package init(entries: Int, size: Int, mapSize: Int = 1 << 30, durability: Durability = .powerCut) {
    direct = DirectLMDB(directory: scratch("lmdb"), mapSize: mapSize, durability: durability)
    var randomness = Randomness(seed: 9)
    keys = (0..<entries).map(Int.key).shuffled(using: &randomness)
    let value = [UInt8](repeating: 7, count: size)
    for start in stride(from: 0, to: entries, by: 1_000) {
      direct.putBatch(keys[start..<min(start + 1_000, entries)], value: value)
    }
  }
}
