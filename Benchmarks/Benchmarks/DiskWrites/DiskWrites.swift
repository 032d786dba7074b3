import Benchmark
import Cistern
import Workloads

/// Writes until they are on disk, compared with LMDB's puts in batches under the same sync mode.
let benchmarks: @Sendable () -> Void = {
  Benchmark.defaultConfiguration = Benchmark.Configuration(
    metrics: [.wallClock, .throughput], warmupIterations: 1, scalingFactor: .kilo,
    maxDuration: .seconds(4), maxIterations: 200)

  let kinds: [(title: String, durability: Durability)] = [
    ("powerCut", .powerCut), ("processCrash", .processCrash),
  ]
  let shelf = Shelf<StockedDisk>()
  for kind in kinds {
    Benchmark("1,000 sets of 1 KiB and a flush, \(kind.title)") { (benchmark: Benchmark, stocked: StockedDisk) in
      let value = [UInt8](repeating: 7, count: 1024)
      let start = Int.random(in: 0..<stocked.keys.count)
      for round in benchmark.scaledIterations {
        stocked.cache.setValue(value, forKey: stocked.keys[(start + round) % stocked.keys.count])
      }
      try await stocked.store.flush()
    } setup: {
      try await shelf.keep(StockedDisk(entries: 20_000, size: 1024, durability: kind.durability))
    } teardown: {
      try await shelf.empty()?.close()
    }
    Benchmark("a batch of 1,000 puts of 1 KiB by LMDB itself, \(kind.title)") {
      (benchmark: Benchmark, stocked: StockedDirect) in
      let value = [UInt8](repeating: 7, count: 1024)
      let start = Int.random(in: 0..<stocked.keys.count - 1_000)
      stocked.direct.putBatch(stocked.keys[start..<start + benchmark.scaledIterations.count], value: value)
    } setup: {
      StockedDirect(entries: 20_000, size: 1024, durability: kind.durability)
    }
  }
  Benchmark("one commitValue of 1 KiB, waited for", configuration: Benchmark.Configuration(scalingFactor: .one)) {
    (benchmark: Benchmark, stocked: StockedDisk) in
    let value = [UInt8](repeating: 7, count: 1024)
    try await stocked.cache.commitValue(value, forKey: stocked.keys[Int.random(in: 0..<stocked.keys.count)])
  } setup: {
    try await shelf.keep(StockedDisk(entries: 20_000, size: 1024))
  } teardown: {
    try await shelf.empty()?.close()
  }
}
