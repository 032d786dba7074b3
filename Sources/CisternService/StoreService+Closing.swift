#if Service
  import CisternCore
  import Logging

  extension StoreService {
    /// The end of a close, or of the wait for it.
    private enum Closing: Sendable {
      case closed
      case failed(CisternError)
      case late
    }

    /// Closes the store, waits at most until the deadline, and logs the result.
    func close() async {
      let started = instruments.clock.now()
      let failedEarlier = failedCount
      let closing = await closeOrDeadline()
      let milliseconds = instruments.clock.now().nanoseconds(since: started) / 1_000_000
      let logger = instruments.logger
      switch closing {
      case .closed:
        logger.info("the store is closed", metadata: ["cistern.close.milliseconds": "\(milliseconds)"])
      case .failed(let error):
        logger.error(
          "the store is closed, but not all writes are on disk: \(error.message)",
          metadata: leftWork(since: failedEarlier).merging([
            "cistern.cause": "\(error)", "cistern.code": "\(error.code)",
          ]) { $1 })
      case .late:
        logger.error("the store was not closed within its deadline", metadata: leftWork(since: failedEarlier))
      }
    }

    /// The number of writes that failed since the store was opened.
    private var failedCount: Int { store.statistics.disk?.failed ?? 0 }

    /// Returns the work that a close has left.
    ///
    /// - Parameter failedEarlier: The number of writes that had failed before the close.
    /// - Returns: The metadata of the log record.
    private func leftWork(since failedEarlier: Int) -> Logger.Metadata {
      let statistics = store.statistics
      return [
        "cistern.store.staged": "\(statistics.disk?.stagedCount ?? 0)",
        "cistern.store.failed": "\((statistics.disk?.failed ?? 0) - failedEarlier)",
        "cistern.store.failed_earlier": "\(failedEarlier)",
        "cistern.store.flights": "\(statistics.caches.values.reduce(0) { $0 + $1.inProgressCount })",
      ]
    }

    /// Closes the store. Returns the result of the close, or `late` if the deadline comes first. A close cannot be
    /// cancelled: after the deadline it continues as long as the process runs.
    private func closeOrDeadline() async -> Closing {
      let (closings, continuation) = AsyncStream.makeStream(of: Closing.self)
      let (store, clock, deadline) = (store, instruments.clock, closingDeadline)
      Task {
        do throws(CisternError) {
          try await store.close()
          continuation.yield(.closed)
        } catch {
          continuation.yield(.failed(error))
        }
      }
      let timer = Task {
        do {
          try await clock.sleep(for: deadline)
        } catch {
          // The deadline also holds if the clock cannot sleep.
          guard !Task.isCancelled, (try? await Task.sleep(for: deadline)) != nil else { return }
        }
        continuation.yield(.late)
      }
      defer { timer.cancel() }
      for await closing in closings { return closing }
      return .late
    }
  }
#endif
