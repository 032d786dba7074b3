import Benchmark
import Cistern
import Workloads

/// A typical use of a store: mostly loads by Zipf's law, with lookups, sets and removals between them.
let benchmarks: @Sendable () -> Void = {
  Benchmark.defaultConfiguration = Benchmark.Configuration(
    metrics: [.wallClock, .throughput], warmupIterations: 1, scalingFactor: .kilo,
    maxDuration: .seconds(5), maxIterations: 500)

  let shelf = Shelf<Mixed>()
  for tasks in [1, 2, 16] {
    Benchmark("1,000 mixed operations on a store, \(tasks) tasks") { (benchmark: Benchmark, mixed: Mixed) in
      let count = benchmark.scaledIterations.count / tasks
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<tasks { group.addTask { try await mixed.run(count, seed: .random(in: 0 ... .max)) } }
        try await group.waitForAll()
      }
    } setup: {
      shelf.keep(try Mixed())
    } teardown: {
      try await shelf.empty()?.close()
    }
  }
}

/// A store of 10,000 articles of one kibibyte. A tenth of them fits into memory.
private final class Mixed: Sendable {
  let store: Store
  let articles: Cache<String, [UInt8]>
  let keys: [String]
  private let scratch = TemporaryDirectory()

  init() throws {
    store = try Store(directory: scratch("store"), memoryLimit: .mebibytes(1), diskLimit: .mebibytes(64))
    articles = try store.cache("articles", of: [UInt8].self, keyedBy: String.self)
    keys = keysByZipf(of: 10_000, count: 100_000)
  }

  func close() async throws {
    try await store.close()
    scratch.remove()
  }

  func run(_ count: Int, seed: UInt64) async throws {
    var randomness = Randomness(seed: seed)
    for _ in 0..<count {
      let key = keys[Int.random(in: 0..<keys.count, using: &randomness)]
      switch Int.random(in: 0..<100, using: &randomness) {
      case 0..<80: blackHole(try await articles.value(forKey: key) { _ in [UInt8](repeating: 1, count: 1024) })
      case 80..<90: blackHole(articles[key])
      case 90..<99: articles[key] = [UInt8](repeating: 2, count: 1024)
      default: articles[key] = nil
      }
    }
  }
}
