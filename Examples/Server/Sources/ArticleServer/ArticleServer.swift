import CisternService
import Hummingbird
import Logging
import ServiceLifecycle

/// A server that keeps the articles of an origin in a cache.
package struct ArticleServer: Sendable {
  /// The services of the process, in the order in which they start. They shut down in reverse order, so the server has
  /// answered its last request when the store closes.
  package let services: [any Service]

  /// Opens the store and prepares the server.
  package init(_ settings: ServerSettings, logger: Logger) throws {
    let metrics = PrometheusMetrics()
    let instruments = CacheInstruments(logger: logger, metrics: metrics)
    let caches = try ArticleCaches(settings, instruments: instruments)
    let router = Router()
    ArticleRoutes(caches: caches, origin: ArticleOrigin(address: settings.origin), metrics: metrics).add(to: router)
    let application = Application(
      router: router,
      configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: settings.port)),
      onServerRunning: { [onRunning = settings.onRunning] channel in await onRunning(channel.localAddress?.port ?? 0) },
      logger: logger)
    services = [caches.service, application]
  }
}
