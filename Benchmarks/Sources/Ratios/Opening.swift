import Cistern
import Workloads

/// The opening of a store with many entries, compared with that of an empty store.
struct Opening {
  let entries: Int

  func rows() async throws -> [Row] {
    let scratch = TemporaryDirectory()
    let full = try open(scratch("full"))
    for rank in 0..<entries { full.cache.setValue(UInt64(rank), forKey: .key(rank)) }
    try await full.store.close()
    try await open(scratch("empty")).store.close()
    return [
      try await Pair(
        title: "opening a store of \(entries / 1000) k entries, and its first look-up", reference: "an empty store",
        target: 1.5,
        measure: { try await opening(scratch("full"), expected: 1) },
        measureReference: { try await opening(scratch("empty"), expected: nil) }
      ).run(rounds: 21)
    ]
  }

  private func opening(_ directory: String, expected: UInt64?) async throws -> Double {
    let start = nanoseconds()
    let (store, cache) = try open(directory)
    let found = cache.value(forKey: .key(1))
    let end = nanoseconds()
    precondition(found == expected)
    try await store.close()
    return Double(end - start)
  }

  private func open(_ directory: String) throws -> (store: Store, cache: Cache<Int, UInt64>) {
    var configuration = Store.Configuration()
    configuration.durability = .processCrash
    let store = try Store(
      directory: directory, memoryLimit: .bytes(1), diskLimit: .gibibytes(1), configuration: configuration)
    return (store, try store.cache("values", of: UInt64.self, keyedBy: Int.self))
  }
}
