import Benchmark
import Cistern
import Workloads

/// Callers that share flights, compared with tasks that wait for a bare continuation.
let benchmarks: @Sendable () -> Void = {
  Benchmark.defaultConfiguration = Benchmark.Configuration(
    metrics: [.wallClock, .throughput], warmupIterations: 3, maxDuration: .seconds(3), maxIterations: 1_000)
  let tasks = 1_000

  Benchmark("1,000 tasks join one key of a coalescer") { benchmark in
    let coalescer = Coalescer<Int, Int>()
    let gate = SingleWaiterGate()
    blackHole(
      try await Joining.cost(
        tasks: tasks,
        ask: { _ in
          _ = try await coalescer.value(forKey: 1) { key in
            await gate.wait()
            return key
          }
        },
        open: { gate.open() }))
  }

  Benchmark("1,000 tasks wait for a continuation each") { benchmark in
    let waiting = BareWaiting(capacity: tasks)
    blackHole(
      try await Joining.cost(
        tasks: tasks, ask: { number in try await waiting.wait(as: number) }, open: { waiting.open() }))
  }

  Benchmark("1,000 tasks load 1,000 keys of a cache in memory") { benchmark in
    let cache = try Cache<Int, Int>(costLimit: 1 << 20)
    blackHole(
      try await Joining.cost(
        tasks: tasks, ask: { number in _ = try await cache.value(forKey: number) { $0 } }, open: {}))
  }

  Benchmark("a load alone", configuration: Benchmark.Configuration(scalingFactor: .kilo)) { benchmark in
    let cache = try Cache<Int, Int>(costLimit: 1 << 20)
    for round in benchmark.scaledIterations { blackHole(try await cache.value(forKey: round) { $0 }) }
  }

  Benchmark("a bulk load of 1,000 keys") { benchmark in
    let cache = try Cache<Int, Int>(costLimit: 1 << 20)
    blackHole(
      try await cache.values(forKeys: 0..<tasks) { keys in
        Dictionary(uniqueKeysWithValues: keys.map { ($0, $0) })
      })
  }
}
