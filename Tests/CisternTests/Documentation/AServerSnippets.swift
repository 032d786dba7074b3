import CisternTestSupport
import Cistern
import Testing

/// The examples of "A server".
@Suite struct AServerSnippets: Examples {
  @Test func `one store for all requests, with a log of its reports`() async throws {
    let scratch = TemporaryDirectory()
    let path = scratch.store
    let log: @Sendable (String, String) -> Void = { _, _ in }
    let caches = try ServerCaches(directory: path) { report in
      log(report.isSerious ? "error" : "warning", report.description)
    }
    let article = try await caches.articles.value(forKey: id) { id in try await client.article(id) }
    #expect(caches.articles[id] == article)
    #expect(caches.store.reports.isEmpty)
    try await caches.store.close()
  }

  @Test func `reports that an operator should see`() {
    #expect(StoreReport(.degraded, "the disk fails", location: "store").isSerious)
    #expect(!StoreReport(.recovered, "the disk works again", location: "store").isSerious)
  }

  @Test func `a service that records metrics and closes the store`() async throws {
    let scratch = TemporaryDirectory()
    let caches = try ServerCaches(directory: scratch.store) { _ in }
    caches.articles[id] = edited
    let (names, recorded) = AsyncStream.makeStream(of: String.self)
    let service = CacheService(store: caches.store) { name, _ in recorded.yield(name) }
    service.recordMetrics()
    recorded.finish()
    var all: [String] = []
    for await name in names { all.append(name) }
    #expect(all.contains("memory.cost") && all.contains("disk.bytes") && all.contains("articles.hit-ratio"))

    let running = Task { try await service.run() }
    running.cancel()
    try await running.value
    await #expect(throws: CisternError.self) { try await caches.store.flush() }
  }
}

struct ServerCaches: Sendable {
  let store: Store
  let articles: Cache<String, Article>

  init(directory: String, report: @escaping @Sendable (StoreReport) -> Void) throws {
    var configuration = Store.Configuration()
    configuration.reportHandler = report
    store = try Store(
      directory: directory, memoryLimit: .mebibytes(256), diskLimit: .gibibytes(4), configuration: configuration)
    var settings = CacheConfiguration<Article>()
    settings.loadPolicy = .freshElseStale
    settings.flightLimit = 64
    articles = try store.cache(
      "articles", of: Article.self, keyedBy: String.self,
      expiry: .after(.seconds(60), graceStale: .seconds(3600)), configuration: settings)
  }
}

extension StoreReport {
  /// Whether an operator should look at the machine.
  var isSerious: Bool {
    switch code {
    case .degraded, .setAside, .filesReplaced, .rolledBack: true
    default: false
    }
  }
}

struct CacheService: Sendable {
  let store: Store
  let record: @Sendable (_ name: String, _ value: Double) -> Void

  func recordMetrics() {
    let statistics = store.statistics
    record("memory.cost", Double(statistics.memory.cost))
    if let disk = statistics.disk {
      record("disk.bytes", Double(disk.occupiedBytes))
      record("disk.staged", Double(disk.stagedCount))
      record("disk.degraded", disk.mode == .degraded ? 1 : 0)
    }
    for (name, cache) in statistics.caches {
      record("\(name).hit-ratio", cache.hitRatio)
      record("\(name).joins", Double(cache.joins))
      record("\(name).failures", Double(cache.failures))
      record("\(name).waiters", Double(cache.waiterCount))
    }
  }

  /// Records metrics until the task is cancelled, and then closes the store.
  func run() async throws {
    while !Task.isCancelled {
      recordMetrics()
      try? await Task.sleep(for: .seconds(10))
    }
    try await store.close()
  }
}
