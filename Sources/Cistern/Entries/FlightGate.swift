import Locking

/// Lets a limited number of flights fetch at one time: storage around ``FlightQueue``.
@usableFromInline
final class FlightGate: Sendable {
  private let queue: Guarded<FlightQueue<CheckedContinuation<Bool, Never>>>

  init(limit: Int) {
    queue = Guarded(FlightQueue(limit: limit))
  }

  /// Waits for a turn; throws `CancellationError`, having none, where the task is cancelled first. Who has a turn gives it
  /// back with ``leave()``.
  ///
  /// - Parameter isReturning: whether the fetch had a turn already and gave it back in between: among equals it is the next.
  func enter(priority: TaskPriority, isReturning: Bool = false) async throws {
    let ticket: UInt64
    switch queue.withLock({ $0.enter(priority: priority, isReturning: isReturning) }) {
    case .admitted: return
    case .queued(let number): ticket = number
    }
    let isAdmitted = await withTaskPriorityEscalationHandler {
      await withTaskCancellationHandler {
        // Resumed once: by who takes it out of the queue under its lock.
        await withCheckedContinuation { continuation in
          // The task may have been escalated since it came, when nothing here would have heard of it.
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

  /// Gives a turn back; who waits first, has it.
  func leave() {
    queue.withLock { $0.leave() }?.resume(returning: true)
  }
}
