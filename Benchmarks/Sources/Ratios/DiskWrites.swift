import Cistern
import Workloads

/// Writes of 1 KiB until they are on disk, compared with LMDB's puts in batches under the same sync mode.
struct DiskWrites {
  let entries = 50_000
  let writes = 20_000
  let batch = 1_000
  let size = 1024

  func rows() async throws -> [Row] {
    [
      try await row(.powerCut, "NOMETASYNC"),
      try await row(.processCrash, "NOSYNC"),
    ]
  }

  private func row(_ durability: Durability, _ title: String) async throws -> Row {
    let scratch = TemporaryDirectory()
    let limit = ByteCount.mebibytes(512)
    var configuration = Store.Configuration()
    configuration.durability = durability
    let store = try Store(
      directory: scratch("cistern"), memoryLimit: .bytes(1), diskLimit: limit, configuration: configuration)
    let cache = try store.cache("values", of: [UInt8].self, keyedBy: Int.self)
    let direct = DirectLMDB(directory: scratch("lmdb"), mapSize: limit.bytes, durability: durability)
    let value = [UInt8](repeating: 7, count: size)
    for start in stride(from: 0, to: entries, by: batch) {
      let keys = (start..<start + batch).map(Int.key)
      for key in keys { cache.setValue(value, forKey: key) }
      direct.putBatch(keys, value: value)
    }
    try await store.flush()
    var randomness = Randomness(seed: 5)
    let keys = (0..<writes).map { _ in Int.key(Int.random(in: 0..<entries, using: &randomness)) }
    let row = try await Pair(
      title: "write of 1 KiB over another, write-behind and `flush`, \(title)",
      reference: "`mdb_put` in batches of \(batch)", target: 2,
      measure: {
        let start = nanoseconds()
        for key in keys { cache.setValue(value, forKey: key) }
        try await store.flush()
        return Double(nanoseconds() - start) / Double(writes)
      },
      measureReference: {
        let start = nanoseconds()
        for begin in stride(from: 0, to: writes, by: batch) {
          direct.putBatch(keys[begin..<min(begin + batch, writes)], value: value)
        }
        return Double(nanoseconds() - start) / Double(writes)
      }
    ).run(rounds: 5)
    try await store.close()
    // Keeps `scratch` alive until here, because its deinitializer removes the directory.
    scratch.remove()
    return row
  }
}
