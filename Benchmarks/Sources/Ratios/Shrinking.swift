import Cistern
import Foundation
import Workloads

/// The opening of a store with a smaller limit, compared with that of a store with a quarter of the entries. The time
/// must depend on the kept entries.
struct Shrinking {
  let entries: Int
  private let limit = ByteCount.mebibytes(16)
  private let size = 1024

  func rows() async throws -> [Row] {
    let scratch = TemporaryDirectory()
    try await fill(scratch("large"), count: entries)
    try await fill(scratch("small"), count: entries / 4)
    return [
      try await Pair(
        title: "opening with a smaller limit: time per entry kept, of \(entries / 1000) k entries of 1 KiB",
        reference: "the same of \(entries / 4000) k entries", target: 1.5,
        measure: { try await shrinking(scratch("large"), in: scratch("copy")) },
        measureReference: { try await shrinking(scratch("small"), in: scratch("copy")) }
      ).run(rounds: 5)
    ]
  }

  private func fill(_ directory: String, count: Int) async throws {
    let (store, cache) = try open(directory, limit: .gibibytes(1))
    let value = [UInt8](repeating: 7, count: size)
    for rank in 0..<count { cache.setValue(value, forKey: .key(rank)) }
    try await store.close()
  }

  private func shrinking(_ source: String, in directory: String) async throws -> Double {
    try? FileManager.default.removeItem(atPath: directory)
    try FileManager.default.copyItem(atPath: source, toPath: directory)
    // A copied file is checked once, for any limit.
    try await open(directory, limit: .gibibytes(1)).store.close()
    let start = nanoseconds()
    let (store, cache) = try open(directory, limit: limit)
    let end = nanoseconds()
    let kept = cache.statistics.disk?.entryCount ?? 0
    precondition(kept > 1000)
    try await store.close()
    return Double(end - start) / Double(kept)
  }

  private func open(_ directory: String, limit: ByteCount) throws -> (store: Store, cache: Cache<Int, [UInt8]>) {
    var configuration = Store.Configuration()
    configuration.durability = .processCrash
    let store = try Store(
      directory: directory, memoryLimit: .bytes(1), diskLimit: limit, configuration: configuration)
    return (store, try store.cache("values", of: [UInt8].self, keyedBy: Int.self))
  }
}
