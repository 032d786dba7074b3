import Benchmark
import Cistern
import Workloads

/// Hits on disk whose pages are in memory, compared with LMDB's own gets.
let benchmarks: @Sendable () -> Void = {
  Benchmark.defaultConfiguration = Benchmark.Configuration(
    metrics: [.wallClock, .throughput], warmupIterations: 1, scalingFactor: .kilo,
    maxDuration: .seconds(3), maxIterations: 500)

  let shelf = Shelf<StockedDisk>()
  for size in [100, 1024, 16 << 10] {
    Benchmark("withBytes, \(size) bytes") { (benchmark: Benchmark, stocked: StockedDisk) in
      for round in benchmark.scaledIterations {
        blackHole(stocked.cache.withBytes(forKey: stocked.keys[round % stocked.keys.count]) { $0.byteCount })
      }
    } setup: {
      try await shelf.keep(StockedDisk(entries: 20_000, size: size))
    } teardown: {
      try await shelf.empty()?.close()
    }
    Benchmark("value, \(size) bytes") { (benchmark: Benchmark, stocked: StockedDisk) in
      for round in benchmark.scaledIterations {
        blackHole(stocked.cache.value(forKey: stocked.keys[round % stocked.keys.count]))
      }
    } setup: {
      try await shelf.keep(StockedDisk(entries: 20_000, size: size))
    } teardown: {
      try await shelf.empty()?.close()
    }
    Benchmark("mdb_get, \(size) bytes") { (benchmark: Benchmark, stocked: StockedDirect) in
      for round in benchmark.scaledIterations {
        blackHole(stocked.direct.withValue(forKey: stocked.keys[round % stocked.keys.count]) { $0.count })
      }
    } setup: {
      StockedDirect(entries: 20_000, size: size)
    }
  }
}
