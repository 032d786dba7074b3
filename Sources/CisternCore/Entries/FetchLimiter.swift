import Locking

/// A fetch limiter: limits the number of concurrent fetches. The storage around ``PermitQueue``.
@usableFromInline
final class FetchLimiter: Sendable {
  private let queue: Guarded<PermitQueue<CheckedContinuation<Bool, Never>>>

  init(limit: Int) {
    queue = Guarded(PermitQueue(limit: limit))
  }

  /// Waits for a permit. The caller releases it with ``leave()``.
  ///
  /// - Parameters:
  ///   - priority: The priority of the fetch.
  ///   - isReturning: Whether the fetch lent its permit before. Such a fetch goes first among equal priorities.
  /// - Throws: `CancellationError` if the task is cancelled first. The caller then has no permit.
  func enter(priority: TaskPriority, isReturning: Bool = false) async throws {
    let ticket: PermitTicket
    switch queue.withLock({ $0.enter(priority: priority, isReturning: isReturning) }) {
    case .admitted: return
    case .queued(let queued): ticket = queued
    }
    let isAdmitted = await withTaskPriorityEscalationHandler {
      await withTaskCancellationHandler {
        // Resumed once, by the thread that takes the continuation out of the queue under the queue's lock.
        await withCheckedContinuation { continuation in
          // No handler was installed until now, so an earlier escalation is noticed only here.
          let priority = Task.currentPriority
          let known = queue.withLock { queue in
            queue.raise(ticket, to: priority)
            return queue.wait(ticket, continuation)
          }
          if let known { continuation.resume(returning: known) }
        }
      } onCancel: {
        queue.withLock { $0.cancel(ticket) }?.resume(returning: false)
      }
    } onPriorityEscalated: { _, priority in
      queue.withLock { $0.raise(ticket, to: priority) }
    }
    guard isAdmitted else { throw CancellationError() }
  }

  /// Releases a permit, which goes to the first waiter.
  func leave() {
    queue.withLock { $0.leave() }?.resume(returning: true)
  }
}
