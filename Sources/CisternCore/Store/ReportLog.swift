import Locking

/// The newest reports of a store, and the report handlers of all stores that share it.
package final class ReportLog: Sendable {
  private let reports = Guarded<[StoreReport]>([])
  private let handlers = Guarded<[Int: @Sendable (StoreReport) -> Void]>([:])

  private static let capacity = 100

  /// Creates a log. The number identifies the store that owns the handler.
  package init(handler: (@Sendable (StoreReport) -> Void)? = nil, number: Int = 0) {
    addHandler(handler, number)
  }

  /// Keeps a report, then calls the handlers outside the locks.
  package func add(_ report: StoreReport) {
    let dropped = reports.withLock { reports in
      defer { reports.append(report) }
      return reports.count == Self.capacity ? reports.removeFirst() : nil
    }
    // Its cause can be a user's object, which must be destroyed outside the lock.
    withExtendedLifetime(dropped) {}
    for handler in handlers.withLock({ Array($0.values) }) { handler(report) }
  }

  package var newest: [StoreReport] { reports.withLock { $0 } }

  package func addHandler(_ handler: (@Sendable (StoreReport) -> Void)?, _ number: Int) {
    if let handler { handlers.withLock { $0[number] = handler } }
  }

  func removeHandler(_ number: Int) {
    // The handler belongs to the user, so it is released outside the lock.
    _ = handlers.withLock { $0.removeValue(forKey: number) }
  }

  /// Removes and returns all handlers. The caller must release them outside all locks.
  func takeHandlers() -> [Int: @Sendable (StoreReport) -> Void] {
    handlers.withLock { handlers in
      defer { handlers = [:] }
      return handlers
    }
  }
}
