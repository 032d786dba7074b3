import Cistern
import Workloads

/// Hits on disk with resident pages, compared with the same gets of LMDB.
struct DiskReads {
  let entries = 100_000
  let reads = 200_000
  let size = 1024

  func rows() async throws -> [Row] {
    let scratch = TemporaryDirectory()
    let limit = ByteCount.mebibytes(512)
    // The memory holds no value of this size, so that each lookup reads from disk.
    let store = try Store(directory: scratch("cistern"), memoryLimit: .bytes(1), diskLimit: limit)
    let cache = try store.cache("values", of: [UInt8].self, keyedBy: Int.self)
    let direct = DirectLMDB(directory: scratch("lmdb"), mapSize: limit.bytes)
    let value = [UInt8](repeating: 7, count: size)
    for start in stride(from: 0, to: entries, by: 1000) {
      let keys = (start..<start + 1000).map(Int.key)
      for key in keys { cache.setValue(value, forKey: key) }
      direct.putBatch(keys, value: value)
    }
    try await store.flush()
    var randomness = Randomness(seed: 3)
    let keys = (0..<reads).map { _ in Int.key(Int.random(in: 0..<entries, using: &randomness)) }
    let commitsBefore = store.statistics.disk?.commits

    var total = 0
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
    defer { copy.deallocate() }
    let rows = [
      try await Pair(
        title: "disk hit, `withBytes`, 1 KiB copied", reference: "renew, `mdb_get`, reset, copied", target: 1.1,
        measure: {
          perRead { key in cache.withBytes(forKey: key) { $0.withUnsafeBytes { copy.copyMemory(from: $0) } } != nil }
        },
        measureReference: { perRead { key in direct.withValue(forKey: key) { copy.copyMemory(from: $0) } != nil } }
      ).run(),
      try await Pair(
        title: "disk hit, `withBytes`, one byte looked at", reference: "renew, `mdb_get`, reset, one byte", target: nil,
        measure: { perRead { key in cache.withBytes(forKey: key) { $0.byteCount > 0 } ?? false } },
        measureReference: { perRead { key in direct.withValue(forKey: key) { $0[0] == 7 } ?? false } }
      ).run(),
      try await Pair(
        title: "disk hit, `value(forKey:)`, 1 KiB `[UInt8]`", reference: "renew, `mdb_get`, reset, `Array` made",
        target: 1.25,
        measure: { perRead { key in cache.value(forKey: key) != nil } },
        measureReference: { perRead { key in direct.withValue(forKey: key) { Array($0).count > 0 } ?? false } }
      ).run(),
    ]
    let commits = (store.statistics.disk?.commits ?? 0) - (commitsBefore ?? 0)
    try await store.close()
    // Keeps `scratch` alive until here, because its deinitializer removes the directory.
    scratch.remove()
    return rows + [
      Row(
        title: "commits begun by \(total / 1_000_000) million disk hits", subject: "\(commits)",
        reference: "the tier's own count", result: ("\(commits)", "0", commits == 0))
    ]

    func perRead(_ read: (Int) -> Bool) -> Double {
      let start = nanoseconds()
      var hits = 0
      for key in keys where read(key) { hits += 1 }
      precondition(hits == reads)
      total += reads
      return Double(nanoseconds() - start) / Double(reads)
    }
  }
}
