import CisternTestSupport
import Cistern
import Foundation
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
    // On a busy machine, the lifetime can end before this look-up.
    #expect(caches.articles.value(forKey: id, staleUpTo: .seconds(3600)) == article)
    #expect(caches.store.reports.isEmpty)
    try await caches.store.close()
  }

  @Test func `reports that an operator should see`() {
    #expect(StoreReport(.degraded, "the disk fails", location: "store").isSerious)
    #expect(!StoreReport(.recovered, "the disk works again", location: "store").isSerious)
  }

  @Test func `changes of an article as server-sent events`() async throws {
    let articles = try Cache<String, Article>(costLimit: 1 << 20)
    let (sent, body) = AsyncStream.makeStream(of: String.self)
    let (id, edited) = (id, edited)
    let stream = Task {
      try await streamUpdates(of: id, from: articles) { text in
        body.yield(text)
        // The observation has begun.
        if text.hasPrefix(":") { articles[id] = edited }
      }
      body.finish()
    }
    var iterator = sent.makeAsyncIterator()
    #expect(await iterator.next() == ": observing\n\n")
    let event = try #require(await iterator.next())
    #expect(event.hasPrefix("data: {") && event.contains(edited.title) && event.hasSuffix("\n\n"))
    stream.cancel()
    #expect(await iterator.next() == nil)
    try await stream.value
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

/// Sends the changes of an article until the client disconnects.
func streamUpdates(
  of id: String, from articles: Cache<String, Article>, to write: (String) async throws -> Void
) async throws {
  let updates = articles.updates(forKey: id)
  try await write(": observing\n\n")
  for await change in updates {
    let article = try change.value.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
    try await write("data: \(article ?? "null")\n\n")
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
    articles = try store.cache(
      "articles", of: Article.self, keyedBy: String.self,
      expiry: .after(.seconds(60), graceStale: .seconds(3600)),
      configuration: .with {
        $0.loadPolicy = .freshElseStale
        $0.flightLimit = 64
      })
  }
}

extension StoreReport {
  /// Whether an operator should look at the machine.
  var isSerious: Bool {
    switch code {
    case .degraded, .setAside, .filesReplaced, .rolledBack, .deviceFull: true
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
