import Cistern
import Workloads

/// Enumerations of a cache whose values are on disk, compared with a cursor of LMDB over as many keys.
struct Enumerating {
  let entries: Int

  func rows() async throws -> [Row] {
    let scratch = TemporaryDirectory()
    let limit = ByteCount.mebibytes(1024)
    // The memory holds no value of this size.
    let store = try Store(directory: scratch("cistern"), memoryLimit: .bytes(1), diskLimit: limit)
    let cache = try store.cache("values", of: [UInt8].self, keyedBy: Int.self)
    let direct = DirectLMDB(directory: scratch("lmdb"), mapSize: limit.bytes)
    let value = [UInt8](repeating: 7, count: 16)
    for start in stride(from: 0, to: entries, by: 1000) {
      let keys = (start..<start + 1000).map(Int.key)
      for key in keys { cache.setValue(value, forKey: key) }
      direct.putBatch(keys, value: value)
    }
    try await store.flush()
    let rows = [
      try await pair("`keyCount()` of a million records", direct) { try await cache.keyCount() }.run(rounds: 5),
      try await pair("`keys()` of a million records", direct) {
        var count = 0
        for try await _ in cache.keys() { count += 1 }
        return count
      }.run(rounds: 5),
      try await pair("`entries()` of a million records", direct) {
        var count = 0
        for try await entry in cache.entries() where !entry.isStale { count += 1 }
        return count
      }.run(rounds: 5),
    ]
    try await store.close()
    // Its last use. The directory would otherwise be removed during the measurement.
    scratch.remove()
    return rows
  }

  private func pair(
    _ title: String, _ direct: DirectLMDB, _ visit: @escaping () async throws -> Int
  ) -> Pair {
    Pair(
      title: title, reference: "`mdb_cursor_get`, keys only", target: 1.3,
      measure: {
        let start = nanoseconds()
        let count = try await visit()
        precondition(count == entries, "\(count) of \(entries) were visited")
        return Double(nanoseconds() - start) / Double(entries)
      },
      measureReference: {
        let start = nanoseconds()
        precondition(direct.visitKeys() == entries * 8)
        return Double(nanoseconds() - start) / Double(entries)
      })
  }
}
