/// A task that is suspended until a result is there.
///
/// A continuation without the run-time check that it is resumed once, which would cost as much as the suspension
/// itself. In the check's place: it is kept in a flight's state, and only who takes it out of there, under the flight's
/// lock, resumes it.
@safe
@usableFromInline
struct WaitingTask<Value: Sendable>: Sendable {
  @usableFromInline let continuation: UnsafeContinuation<Value, any Error>

  @inlinable
  init(_ continuation: UnsafeContinuation<Value, any Error>) {
    unsafe self.continuation = continuation
  }

  /// Suspends the current task and gives it to `body`, which must keep it or have it resumed.
  @inlinable
  static func suspend(_ body: (WaitingTask) -> Void) async throws -> Value {
    try await unsafe withUnsafeThrowingContinuation { body(unsafe WaitingTask($0)) }
  }

  /// Lets the task go on. To be called once.
  @inlinable
  func resume(_ outcome: Result<Value, any Error>) {
    unsafe continuation.resume(with: outcome)
  }
}
