import Cistern
import Workloads

/// The longest flush of a hundred values in a full file. No transaction takes longer than the flush that waits for it.
struct LongestFlush {
  let limit = ByteCount.mebibytes(64)
  let flushes = 500

  func rows() async throws -> [Row] {
    var rows: [Row] = []
    for sizes in [100...100, 1000...1000, 100...16_384] { rows.append(try await row(sizes)) }
    return rows
  }

  private func row(_ sizes: ClosedRange<Int>) async throws -> Row {
    let dense = try await longest(sizes, .dense)
    let ordered = try await longest(sizes, .ordered)
    let name = sizes.lowerBound == sizes.upperBound ? "\(sizes.lowerBound) B" : "100 B to 16 KiB"
    return Row(
      "longest of \(flushes) flushes of 100 values of \(name), full file of \(limit)",
      dense: "\(decimal(dense)) ms", ordered: "\(decimal(ordered)) ms",
      result: (decimal(dense), "≤ 20 ms", dense <= 20))
  }

  /// Returns the milliseconds of the longest flush, as the median of five rounds.
  private func longest(_ sizes: ClosedRange<Int>, _ layout: DiskLayout) async throws -> Double {
    let stocked = try await StockedDisk(entries: 0, size: 0, limit: limit, durability: .processCrash, layout: layout)
    var randomness = Randomness(seed: 22)
    let keys = 2 * limit.bytes / ((sizes.lowerBound + sizes.upperBound) / 2)
    func put(_ key: Int) {
      let value = [UInt8](repeating: 7, count: Int.random(in: sizes, using: &randomness))
      stocked.cache.setValue(value, forKey: Int.key(key))
    }
    for key in 0..<keys {
      put(key)
      if key.isMultiple(of: 1000) { try await stocked.store.flush() }
    }
    try await stocked.store.flush()
    var longest: [Double] = []
    for _ in 0..<5 {
      var times: [UInt64] = []
      for _ in 0..<flushes {
        for _ in 0..<100 { put(Int.random(in: 0..<keys, using: &randomness)) }
        let start = nanoseconds()
        try await stocked.store.flush()
        times.append(nanoseconds() - start)
      }
      longest.append(Double(times.max() ?? 0) / 1_000_000)
    }
    try await stocked.close()
    return median(longest)
  }
}
