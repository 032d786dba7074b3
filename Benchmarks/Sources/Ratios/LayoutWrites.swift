import Cistern
import Workloads

/// Writes to full files of the dense layout, compared with those to files of the ordered one.
struct LayoutWrites {
  let limit = ByteCount.mebibytes(64)
  let size = 1024

  func rows() async throws -> [Row] {
    var rows: [Row] = []
    for durability in [Durability.processCrash, .powerCut] {
      let dense = try await StockedDisk(
        entries: 80_000, size: size, limit: limit, durability: durability, layout: .dense)
      let ordered = try await StockedDisk(
        entries: 80_000, size: size, limit: limit, durability: durability, layout: .ordered)
      for round in [1, 10, 100, 1000] {
        rows.append(try await row(dense, ordered, round, durability))
      }
      rows.append(try await reads(dense, ordered, durability))
      try await dense.close()
      try await ordered.close()
    }
    for size in [100, 1024, 4096, 16_384] { rows.append(try await fill(size: size)) }
    return rows
  }

  private func row(
    _ dense: StockedDisk, _ ordered: StockedDisk, _ round: Int, _ durability: Durability
  ) async throws -> Row {
    let count = round == 1 ? 400 : round == 10 ? 2_000 : 10_000
    var randomness = Randomness(seed: UInt64(round))
    let keys = (0..<count).map { _ in Int.key(Int.random(in: 0..<1_000_000, using: &randomness)) }
    let value = [UInt8](repeating: 9, count: size)
    func measure(_ stocked: StockedDisk) async throws -> Double {
      let start = nanoseconds()
      for (number, key) in keys.enumerated() {
        stocked.cache.setValue(value, forKey: key)
        if (number + 1).isMultiple(of: round) { try await stocked.store.flush() }
      }
      return Double(nanoseconds() - start) / Double(count)
    }
    return try await Pair(
      title: "write of 1 KiB to a full file of the dense layout, flushed after \(round), \(durability)",
      reference: "ordered layout", target: 1,
      measure: { try await measure(dense) }, measureReference: { try await measure(ordered) }
    ).run(rounds: 5)
  }

  /// Writes new values to a new store, each value as long as `size`, up to a quarter of the limit.
  private func fill(size: Int) async throws -> Row {
    let count = limit.bytes / 4 / size
    let value = [UInt8](repeating: 9, count: size)
    func measure(_ layout: DiskLayout) async throws -> Double {
      let stocked = try await StockedDisk(entries: 0, size: size, limit: limit, layout: layout)
      let start = nanoseconds()
      for number in 0..<count { stocked.cache.setValue(value, forKey: Int.key(number)) }
      try await stocked.store.flush()
      let cost = Double(nanoseconds() - start) / Double(count)
      try await stocked.close()
      return cost
    }
    return try await Pair(
      title: "write of \(size) bytes to a new file of the dense layout", reference: "ordered layout", target: 1,
      measure: { try await measure(.dense) }, measureReference: { try await measure(.ordered) }
    ).run(rounds: 5)
  }

  /// Hits while another task overwrites values without a pause.
  private func reads(_ dense: StockedDisk, _ ordered: StockedDisk, _ durability: Durability) async throws -> Row {
    func measure(_ stocked: StockedDisk) async throws -> Double {
      let value = [UInt8](repeating: 9, count: size)
      let writer = Task {
        var randomness = Randomness(seed: 11)
        while !Task.isCancelled {
          stocked.cache.setValue(
            value, forKey: stocked.keys[Int.random(in: 0..<stocked.keys.count, using: &randomness)])
        }
      }
      var randomness = Randomness(seed: 12)
      var times: [UInt64] = []
      while times.count < 200_000 {
        let key = stocked.keys[Int.random(in: 0..<stocked.keys.count, using: &randomness)]
        let start = nanoseconds()
        let found: Bool? = stocked.cache.withBytes(forKey: key) { $0.byteCount > 0 }
        if found != nil { times.append(nanoseconds() - start) }
      }
      writer.cancel()
      await writer.value
      times.sort()
      return Double(times[times.count * 999 / 1000])
    }
    return try await Pair(
      title: "p99.9 of hits of the dense layout beside a writer, \(durability)", reference: "ordered layout",
      target: 1.5, measure: { try await measure(dense) }, measureReference: { try await measure(ordered) }
    ).run(rounds: 5)
  }
}
