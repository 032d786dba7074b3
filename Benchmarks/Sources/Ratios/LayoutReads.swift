import Cistern
import Workloads

/// Hits of the dense layout with resident pages, compared with those of the ordered one.
struct LayoutReads {
  let cases: [(size: Int, entries: Int)] = [
    (100, 100_000), (100, 1_000_000), (1024, 100_000), (1024, 1_000_000), (16_384, 20_000), (16_384, 100_000),
  ]

  func rows() async throws -> [Row] {
    var rows: [Row] = []
    for (size, entries) in cases { rows.append(try await row(size: size, entries: entries)) }
    return rows
  }

  private func row(size: Int, entries: Int) async throws -> Row {
    let dense = try await StockedDisk(entries: entries, size: size, limit: .gibibytes(4), layout: .dense)
    let ordered = try await StockedDisk(entries: entries, size: size, limit: .gibibytes(4), layout: .ordered)
    let reads = size > 10_000 ? 50_000 : 200_000
    var randomness = Randomness(seed: 3)
    let keys = (0..<reads).map { _ in dense.keys[Int.random(in: 0..<entries, using: &randomness)] }
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
    defer { copy.deallocate() }
    func measure(_ stocked: StockedDisk) -> Double {
      let start = nanoseconds()
      for key in keys {
        let found: Void? = stocked.cache.withBytes(forKey: key) { bytes in
          bytes.withUnsafeBytes { copy.copyMemory(from: $0) }
        }
        precondition(found != nil, "a value is missing")
      }
      return Double(nanoseconds() - start) / Double(reads)
    }
    let count = entries < 1_000_000 ? "\(entries / 1000) k" : "\(entries / 1_000_000) M"
    let row = try await Pair(
      title: "disk hit of the dense layout, `withBytes`, \(size) bytes copied, \(count) entries",
      reference: "ordered layout", target: 1,
      measure: { measure(dense) }, measureReference: { measure(ordered) }
    ).run(rounds: 11)
    try await dense.close()
    try await ordered.close()
    return row
  }
}
