import Locking

/// The newest reports of a store, and the handlers of all who have it open.
final class ReportLog: Sendable {
  private let reports = Guarded<[StoreReport]>([])
  private let handlers = Guarded<[Int: @Sendable (StoreReport) -> Void]>([:])

  private static let capacity = 100

  /// Creates a log; `number` tells the handler's owner from others.
  init(handler: (@Sendable (StoreReport) -> Void)? = nil, number: Int = 0) {
    addHandler(handler, number)
  }

  /// Keeps a report and calls the handlers, outside the locks.
  func add(_ report: StoreReport) {
    reports.withLock { reports in
      if reports.count == Self.capacity { reports.removeFirst() }
      reports.append(report)
    }
    for handler in handlers.withLock({ Array($0.values) }) { handler(report) }
  }

  var newest: [StoreReport] { reports.withLock { $0 } }

  func addHandler(_ handler: (@Sendable (StoreReport) -> Void)?, _ number: Int) {
    if let handler { handlers.withLock { $0[number] = handler } }
  }

  func removeHandler(_ number: Int) {
    // Released outside the lock: it is the user's.
    _ = handlers.withLock { $0.removeValue(forKey: number) }
  }

  /// Removes all handlers, and returns them, to be released outside all locks.
  func takeHandlers() -> [Int: @Sendable (StoreReport) -> Void] {
    handlers.withLock { handlers in
      defer { handlers = [:] }
      return handlers
    }
  }
}
