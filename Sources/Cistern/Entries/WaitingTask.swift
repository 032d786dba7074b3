/// A task that is suspended until a result is available.
///
/// The continuation is unsafe, because the check of a checked continuation is too expensive here. It is resumed
/// exactly once: it is stored in a flight's state, and only the thread that removes it, under the flight's lock,
/// resumes it.
@safe
@usableFromInline
struct WaitingTask<Value: Sendable>: Sendable {
  @usableFromInline let continuation: UnsafeContinuation<Value, any Error>

  @inlinable
  init(_ continuation: UnsafeContinuation<Value, any Error>) {
    unsafe self.continuation = continuation
  }

  /// Suspends the current task, and passes it to `body`, which must store it or resume it.
  @inlinable
  static func suspend(_ body: (WaitingTask) -> Void) async throws -> Value {
    try await unsafe withUnsafeThrowingContinuation { body(unsafe WaitingTask($0)) }
  }

  /// Resumes the task. Must be called exactly once.
  @inlinable
  func resume(_ outcome: Result<Value, any Error>) {
    unsafe continuation.resume(with: outcome)
  }
}
