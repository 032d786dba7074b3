import Locking

/// The newest reports of a store, and whoever is to be told of each.
final class ReportLog: Sendable {
  private let reports = Guarded<[StoreReport]>([])
  private let handler: (@Sendable (StoreReport) -> Void)?

  private static let capacity = 100

  init(handler: (@Sendable (StoreReport) -> Void)?) {
    self.handler = handler
  }

  /// Keeps a report and tells the handler, outside the lock.
  func add(_ report: StoreReport) {
    reports.withLock { reports in
      if reports.count == Self.capacity { reports.removeFirst() }
      reports.append(report)
    }
    handler?(report)
  }

  var newest: [StoreReport] { reports.withLock { $0 } }
}
