import Benchmark
import Cistern
import Workloads

/// Lookups that hit memory, and sets, compared with a dictionary behind a lock.
let benchmarks: @Sendable () -> Void = {
  Benchmark.defaultConfiguration = Benchmark.Configuration(
    metrics: [.wallClock, .throughput], warmupIterations: 1, scalingFactor: .kilo,
    maxDuration: .seconds(3), maxIterations: 200)

  hits(Int.self, entries: 16_000)
  hits(Int.self, entries: 1_000_000)
  hits(String.self, entries: 16_000)
  hits(String.self, entries: 1_000_000)
  sets()
}

/// Measures hits with keys by Zipf's law, over a cache and a dictionary that hold all of them.
private func hits<Key: BenchmarkKey>(_ type: Key.Type, entries: Int) {
  let lookUps = 1_000
  let title = "\(Key.title), \(entries / 1000) k entries"
  Benchmark("hit, \(title)") { (benchmark: Benchmark, stocked: (Cache<Key, Int>, [Key])) in
    let (cache, keys) = stocked
    for round in benchmark.scaledIterations {
      blackHole(cache.value(forKey: keys[round % keys.count]))
    }
  } setup: {
    let cache = try Cache<Key, Int>(costLimit: entries * 2)
    for rank in 0..<entries { cache.setValue(rank, forKey: .key(rank)) }
    return (cache, keysByZipf(of: entries, count: lookUps * 100, as: Key.self))
  }
  Benchmark("hit of Mutex<Dictionary>, \(title)") {
    (benchmark: Benchmark, stocked: (BareDictionary<Key, Int>, [Key])) in
    let (bare, keys) = stocked
    for round in benchmark.scaledIterations {
      blackHole(bare.value(forKey: keys[round % keys.count]))
    }
  } setup: {
    let bare = BareDictionary<Key, Int>()
    for rank in 0..<entries { bare.setValue(rank, forKey: .key(rank)) }
    return (bare, keysByZipf(of: entries, count: lookUps * 100, as: Key.self))
  }
  Benchmark("hit, 2 threads, \(title)") { (_: Benchmark, stocked: (Cache<Key, Int>, [Key])) in
    let (cache, keys) = stocked
    _ = time(threads: 2) { thread in
      for index in 0..<lookUps * 50 { blackHole(cache.value(forKey: keys[thread * lookUps * 50 + index])) }
    }
  } setup: {
    let cache = try Cache<Key, Int>(costLimit: entries * 2)
    for rank in 0..<entries { cache.setValue(rank, forKey: .key(rank)) }
    return (cache, keysByZipf(of: entries, count: lookUps * 100, as: Key.self))
  }
}

/// Measures sets of cached keys, and sets of new keys in a full cache.
private func sets() {
  let entries = 100_000
  Benchmark("set over another value, Int, 100 k entries") { (benchmark: Benchmark, cache: Cache<Int, Int>) in
    for round in benchmark.scaledIterations { cache.setValue(round, forKey: .key(round % entries)) }
  } setup: {
    try fullCache(entries)
  }
  Benchmark("set of a new key that evicts, Int, 100 k entries") { (benchmark: Benchmark, cache: Cache<Int, Int>) in
    let start = entries + Int.random(in: 0..<1 << 30)
    for round in benchmark.scaledIterations { cache.setValue(round, forKey: .key(start + round)) }
  } setup: {
    try fullCache(entries)
  }
}

private func fullCache(_ entries: Int) throws -> Cache<Int, Int> {
  let cache = try Cache<Int, Int>(costLimit: entries)
  for rank in 0..<entries { cache.setValue(rank, forKey: .key(rank)) }
  return cache
}
