import Locking

/// The reports of one cache to its store's report handler.
@usableFromInline
final class CacheReports: Sendable {
  /// The name of the cache.
  @usableFromInline let name: String
  /// Sends a report of this cache.
  @usableFromInline let send: @Sendable (StoreReport) -> Void
  private let refreshThrottle = ReportThrottle()

  init(name: String, send: @escaping @Sendable (StoreReport) -> Void) {
    self.name = name
    self.send = { report in
      var report = report
      if !name.isEmpty { report.cacheName = name }
      send(report)
    }
  }

  /// The cache, as reports and errors name it.
  @usableFromInline
  var location: String { name.isEmpty ? "cache in memory" : "cache \"\(name)\"" }

  /// Returns a key of the cache, as reports and errors name it.
  @usableFromInline
  func location<Key>(of key: Key) -> String { KeyedLocation.text(location, key) }

  /// Reports that a fetch failed whose callers got an older value: no caller gets the error.
  func reportFailedRefresh<Key>(of key: Key, _ error: any Error, at now: MonotonicTime) {
    guard !(error is CancellationError), let others = refreshThrottle.admit(at: now) else { return }
    let addition = others == 0 ? "" : "; \(others) other refreshes failed since the last report"
    send(
      StoreReport(
        .refreshFailed,
        "a value could not be refreshed; callers get the older one while it is fresh or in grace\(addition)",
        location: location(of: key), cause: error))
  }
}
