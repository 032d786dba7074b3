import Cistern
import Workloads

/// The values that stay in a full store when large ones come between small ones.
struct LargeValues {
  func rows() async throws -> [Row] {
    var rows: [Row] = []
    for limit in [4, 8, 16, 64] { rows.append(try await row(.mebibytes(limit))) }
    return rows
  }

  private func row(_ limit: ByteCount) async throws -> Row {
    let dense = try await leastShare(limit, .dense)
    let ordered = try await leastShare(limit, .ordered)
    return Row(
      "least share of \(limit) beside values of almost an eighth", dense: decimal(dense), ordered: decimal(ordered),
      result: (decimal(dense), "≥ 0.50", dense >= 0.5))
  }

  /// Fills a store with values of 800 B. Each of 40 rounds then stores some more, and one of the greatest size, and
  /// reads the newest.
  ///
  /// Returns the least share of the limit that values take after a round.
  private func leastShare(_ limit: ByteCount, _ layout: DiskLayout) async throws -> Double {
    let stocked = try await StockedDisk(
      entries: 0, size: 0, limit: limit, durability: .processCrash, layout: layout)
    let cache = stocked.cache
    let small = [UInt8](repeating: 7, count: 800)
    let large = [UInt8](repeating: 7, count: limit.bytes / 8 * 98 / 100)
    let count = 2 * limit.bytes / small.count
    for number in 0..<count {
      cache.setValue(small, forKey: Int.key(number))
      if number.isMultiple(of: 500) { try await stocked.store.flush() }
    }
    var least = 1.0
    var next = count
    for round in 0..<40 {
      for _ in 0..<limit.bytes / 40_000 {
        cache.setValue(small, forKey: Int.key(next))
        next += 1
      }
      try await stocked.store.flush()
      cache.setValue(large, forKey: Int.key(10_000_000 + round))
      least = min(least, try await stocked.share(of: limit))
      for number in next - limit.bytes / 6000..<next { _ = cache.value(forKey: Int.key(number)) }
      for number in 0...round { _ = cache.value(forKey: Int.key(10_000_000 + number)) }
    }
    try await stocked.close()
    return least
  }
}
