/// A task that is suspended until a result is available.
///
/// The continuation is unsafe, because the check of a checked continuation is too expensive here. It is resumed
/// exactly once: it is stored in a flight's state, and only the thread that removes it, under the flight's lock,
/// resumes it.
@safe
@usableFromInline
struct WaitingTask<Value: Sendable>: Sendable {
  @usableFromInline let continuation: UnsafeContinuation<FlightOutcome<Value>, Never>

  @inlinable
  init(_ continuation: UnsafeContinuation<FlightOutcome<Value>, Never>) {
    unsafe self.continuation = continuation
  }

  /// Suspends the current task, and passes it to `body`, which must store it or resume it.
  @inlinable
  static func suspend(_ body: (WaitingTask) -> Void) async -> FlightOutcome<Value> {
    await unsafe withUnsafeContinuation { body(unsafe WaitingTask($0)) }
  }

  /// Resumes the task. Must be called exactly once.
  @inlinable
  func resume(_ outcome: FlightOutcome<Value>) {
    unsafe continuation.resume(returning: outcome)
  }
}
