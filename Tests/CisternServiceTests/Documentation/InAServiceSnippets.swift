#if Service
  import Cistern
  import CisternService
  import CisternTestSupport
  import InMemoryTracing
  import Logging
  import MetricsTestKit
  import ServiceLifecycle
  import Testing

  /// The examples of "A server with CisternService".
  @Suite struct InAServiceSnippets {
    @Test func `a store, its service and an instrumented cache in a service group`() async throws {
      let scratch = TemporaryDirectory()
      let (path, id, client) = (scratch.store, "1", Client())
      let (metrics, tracer) = (TestMetrics(), InMemoryTracer())
      let logger = Logger(label: "server") { _ in SwiftLogNoOpLogHandler() }
      var configuration = Store.Configuration()
      configuration.logReports(to: logger)
      let store = try Store(
        directory: path, memoryLimit: .mebibytes(256), diskLimit: .gibibytes(4), configuration: configuration)
      let instruments = CacheInstruments(logger: logger, metrics: metrics, tracer: tracer)
      let service = StoreService(store, instruments: instruments, closingDeadline: .seconds(10))
      let articles = InstrumentedCache(
        try store.cache("articles", of: Article.self, keyedBy: String.self), instruments: instruments)

      let article = try await articles.value(forKey: id) { id in try await client.article(id) }
      articles.cache[id] = article
      #expect(tracer.finishedSpans.count == 1)

      // A server that ends by itself ends the group, and the store is closed.
      let server = Server()
      await #expect(throws: ServiceGroupError.self) {
        let group = ServiceGroup(
          services: [service, server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await group.run()
      }
      #expect(metrics.counterTotal(label: "cistern.cache.flights") == 1)
      await #expect(throws: CisternError.self) { try await store.flush() }
    }
  }

  private struct Article: Codable, Sendable {
    var title: String
  }

  private struct Client: Sendable {
    func article(_ id: String) async throws -> Article { Article(title: "Article \(id)") }
  }

  private struct Server: Service {
    func run() async throws {}
  }
#endif
