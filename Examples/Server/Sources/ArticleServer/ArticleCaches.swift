import Cistern
import CisternService
import Logging

/// The store and the caches of the server, with their instruments.
struct ArticleCaches: Sendable {
  let service: StoreService
  let articles: InstrumentedCache<String, Representation<Article>>
  let authors: InstrumentedCache<String, Representation<[Article]>>

  init(_ settings: ServerSettings, instruments: CacheInstruments) throws {
    var configuration = Store.Configuration()
    configuration.logReports(to: instruments.logger)
    configuration.clock = settings.clock
    let store = try Store(
      directory: settings.directory, memoryLimit: .mebibytes(64), diskLimit: .mebibytes(256),
      configuration: configuration)
    service = StoreService(store, instruments: instruments, closingDeadline: .seconds(10))

    // A value in its grace is returned at once, and fetched again in the background.
    let expiry = Expiry.after(.seconds(60), graceStale: .seconds(3600))
    articles = InstrumentedCache(
      try store.cache("articles", of: Representation<Article>.self, keyedBy: String.self, expiry: expiry),
      instruments: instruments)
    authors = InstrumentedCache(
      try store.cache("authors", of: Representation<[Article]>.self, keyedBy: String.self, expiry: expiry),
      instruments: instruments)
  }
}
