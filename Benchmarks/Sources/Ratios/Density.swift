import Cistern
import Workloads

/// The share of a disk limit that values take, and the hits of a stream of requests, in both layouts.
struct Density {
  /// Values of one size, or of sizes between two bounds with even logarithms.
  private struct Sizes {
    let name: String
    let range: ClosedRange<Int>
    /// The targets for the share after a fill and after overwrites.
    let targets: (fill: Double, overwrites: Double)

    var mean: Int {
      if range.lowerBound == range.upperBound { return range.lowerBound }
      var sum = 0
      for key in 0..<10_000 { sum += size(of: key) }
      return sum / 10_000
    }

    /// Returns the size of a key's value.
    func size(of key: Int) -> Int {
      if range.lowerBound == range.upperBound { return range.lowerBound }
      var randomness = Randomness(seed: UInt64(key))
      let factor = range.upperBound / range.lowerBound
      let octaves = factor.bitWidth - factor.leadingZeroBitCount
      let low = range.lowerBound << Int.random(in: 0..<octaves, using: &randomness)
      return min(Int.random(in: low...2 * low, using: &randomness), range.upperBound)
    }
  }

  private static let sizes = [
    Sizes(name: "100 B", range: 100...100, targets: (0.60, 0.48)),
    Sizes(name: "1,000 B", range: 1000...1000, targets: (0.85, 0.75)),
    Sizes(name: "4,000 B", range: 4000...4000, targets: (0.85, 0.75)),
    Sizes(name: "16,000 B", range: 16_000...16_000, targets: (0.85, 0.75)),
    Sizes(name: "100 B to 16 KiB", range: 100...16_384, targets: (0.85, 0.70)),
  ]

  func rows() async throws -> [Row] {
    var rows = try await shares(of: .mebibytes(64))
    for size in [100, 1000] { rows.append(try await hits(size: size)) }
    return rows
  }

  /// Returns the rows of a limit for all sizes. Each size writes eight times the limit.
  func shares(of limit: ByteCount) async throws -> [Row] {
    var rows: [Row] = []
    for sizes in Self.sizes { rows += try await shares(sizes, limit: limit) }
    return rows
  }

  private func shares(_ sizes: Sizes, limit: ByteCount) async throws -> [Row] {
    let dense = try await share(sizes, limit: limit, layout: .dense)
    let ordered = try await share(sizes, limit: limit, layout: .ordered)
    return [
      row("a fill, values of \(sizes.name)", limit, dense.fill, ordered.fill, target: sizes.targets.fill),
      row(
        "overwrites, values of \(sizes.name)", limit, dense.overwrites, ordered.overwrites,
        target: sizes.targets.overwrites),
      overwriteTime(sizes, limit, dense.nanoseconds, ordered.nanoseconds),
    ]
  }

  private func overwriteTime(_ sizes: Sizes, _ limit: ByteCount, _ dense: Double, _ ordered: Double) -> Row {
    let ratio = dense / ordered
    return Row(
      "an overwrite in a full file of \(limit), values of \(sizes.name)", dense: microseconds(dense),
      ordered: microseconds(ordered), result: (decimal(ratio), "≤ 1.00", ratio <= 1))
  }

  private func microseconds(_ nanoseconds: Double) -> String { "\(decimal(nanoseconds / 1000)) µs" }

  private func row(
    _ event: String, _ limit: ByteCount, _ dense: Double, _ ordered: Double, target: Double
  ) -> Row {
    Row(
      "share of \(limit) after \(event)", dense: decimal(dense), ordered: decimal(ordered),
      result: (decimal(dense), "≥ \(decimal(target))", dense >= target))
  }

  /// The shares of a limit that values take, and the time of an overwrite.
  private struct Shares {
    let fill: Double
    let overwrites: Double
    let nanoseconds: Double
  }

  /// Writes new keys of twice the limit in random order, and then as many random overwrites.
  private func share(_ sizes: Sizes, limit: ByteCount, layout: DiskLayout) async throws -> Shares {
    let stocked = try await StockedDisk(
      entries: 0, size: 0, limit: limit, durability: .processCrash, layout: layout)
    let count = 2 * limit.bytes / sizes.mean
    var randomness = Randomness(seed: 5)
    func put(_ number: Int) async throws {
      let value = [UInt8](repeating: 7, count: sizes.size(of: number))
      stocked.cache.setValue(value, forKey: Int.key(number))
      if number % 1000 == 0 { try await stocked.store.flush() }
    }
    for number in (0..<count).shuffled(using: &randomness) { try await put(number) }
    let fill = try await stocked.share(of: limit)
    let start = nanoseconds()
    for _ in 0..<count { try await put(Int.random(in: 0..<count, using: &randomness)) }
    try await stocked.store.flush()
    let time = Double(nanoseconds() - start) / Double(count)
    let overwrites = try await stocked.share(of: limit)
    try await stocked.close()
    return Shares(fill: fill, overwrites: overwrites, nanoseconds: time)
  }

  /// Looks up keys by Zipf's law, and sets each that is missing. Each third request is for a key that comes once.
  private func hits(size: Int) async throws -> Row {
    let limit = ByteCount.mebibytes(32)
    let ranks = ZipfRanks(count: 200_000, exponent: 0.9).draw(400_000, seed: 3)
    func hits(_ layout: DiskLayout) async throws -> Double {
      let stocked = try await StockedDisk(
        entries: 0, size: 0, limit: limit, durability: .processCrash, layout: layout)
      var count = 0
      var requests = 0
      func request(_ number: Int) {
        requests += 1
        if stocked.request(Int.key(number), size: size) { count += 1 }
      }
      for (number, rank) in ranks.enumerated() {
        request(rank)
        if number.isMultiple(of: 2) { request(1_000_000 + number) }
        if number.isMultiple(of: 500) { try await stocked.store.flush() }
      }
      try await stocked.close()
      return Double(count) / Double(requests)
    }
    let (dense, ordered) = (try await hits(.dense), try await hits(.ordered))
    return Row(
      "hits of a stream by Zipf's law with one-hit wonders, \(limit), values of \(size) B",
      dense: decimal(dense), ordered: decimal(ordered),
      result: (decimal(dense), "> \(decimal(ordered))", dense > ordered))
  }
}
