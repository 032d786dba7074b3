#if Service
  public import CisternCore
  public import Logging

  extension Store.Configuration {
    /// Logs each report of the store, in addition to the current ``reportHandler``.
    ///
    /// A record has the metadata `cistern.code`, `cistern.location`, `cistern.cache.name` if the report concerns a
    /// cache, and `cistern.cause` and `error.type` if the report has a cause. The store limits repeated reports.
    ///
    /// - Parameters:
    ///   - logger: The logger. It must not use the store.
    ///   - includesKeys: Whether the location contains the key of a report about one. Keys may be personal data.
    public mutating func logReports(to logger: Logger, includesKeys: Bool = false) {
      let earlier = reportHandler
      reportHandler = { report in
        earlier?(report)
        logger.log(
          level: report.level, "\(report.message)", metadata: report.metadata(includesKeys: includesKeys))
      }
    }
  }

  extension StoreReport {
    /// The level of the report's log record.
    ///
    /// It is `error` if an operator should look at the machine, `notice` if a problem has ended, and `warning`
    /// otherwise.
    public var level: Logger.Level {
      switch code {
      case .degraded, .setAside, .filesReplaced, .rolledBack, .deviceFull: .error
      case .recovered: .notice
      default: .warning
      }
    }

    /// The metadata of the report's log record, without a key.
    public var metadata: Logger.Metadata { metadata(includesKeys: false) }

    func metadata(includesKeys: Bool) -> Logger.Metadata {
      var metadata: Logger.Metadata = [
        "cistern.code": "\(code)", "cistern.location": "\(includesKeys ? location : locationWithoutKey)",
      ]
      if let cacheName { metadata[LabelName.cache] = "\(cacheName)" }
      if let cause {
        metadata["error.type"] = "\(type(of: cause))"
        metadata["cistern.cause"] = "\(cause.forLogs(includesKeys: includesKeys))"
      }
      return metadata
    }
  }
#endif
