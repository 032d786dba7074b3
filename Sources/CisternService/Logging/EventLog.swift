#if Service
  import CisternCore
  import Logging

  /// Logs the failures of a cache's fetches, and the states of its circuit breaker.
  ///
  /// Each kind of event has at most one record in ten seconds, with the number of the others. Changes of the circuit
  /// breaker are rare, and all are logged.
  struct EventLog<Key: Hashable & Sendable>: Sendable {
    private let cacheName: String
    private let instruments: CacheInstruments
    private let failures = ReportThrottle()
    private let timeouts = ReportThrottle()

    init(cacheName: String, instruments: CacheInstruments) {
      self.cacheName = cacheName
      self.instruments = instruments
    }

    func add(_ event: CacheEvent<Key>) {
      switch event.kind {
      case .fetchFailed: log(event, .warning, "a fetch failed", by: failures)
      case .timedOut: log(event, .info, "a caller's time limit passed", by: timeouts)
      case .circuitChanged: logCircuit(event)
      // The store reports a failed refresh (``StoreReport/Code/refreshFailed``).
      default: break
      }
    }

    private func log(
      _ event: CacheEvent<Key>, _ level: Logger.Level, _ message: Logger.Message, by throttle: ReportThrottle
    ) {
      guard let others = throttle.admit(at: instruments.clock.now()) else { return }
      var metadata = metadata(of: event)
      if others > 0 { metadata["cistern.others"] = "\(others)" }
      instruments.logger.log(level: level, message, metadata: metadata)
    }

    private func logCircuit(_ event: CacheEvent<Key>) {
      guard let change = event.circuitChange else { return }
      var metadata = metadata(of: event)
      metadata["cistern.circuit.from"] = "\(change.from)"
      metadata["cistern.circuit.to"] = "\(change.to)"
      instruments.logger.log(
        level: change.to == .open ? .error : .notice, "the circuit breaker changed its state", metadata: metadata)
    }

    private func metadata(of event: CacheEvent<Key>) -> Logger.Metadata {
      var metadata: Logger.Metadata = [
        "cistern.code": "\(event.kind)",
        LabelName.cache: "\(cacheName)",
      ]
      if instruments.includesKeys, let key = event.key { metadata["cistern.cache.key"] = "\(key)" }
      if let error = event.error {
        metadata["error.type"] = "\(type(of: error))"
        metadata["cistern.cause"] = "\(error.forLogs(includesKeys: instruments.includesKeys))"
      }
      return metadata
    }
  }
#endif
