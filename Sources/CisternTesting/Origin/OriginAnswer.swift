/// The answer of a ``ScriptedOrigin`` to one fetch.
public struct OriginAnswer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let give: @Sendable (_ key: Key, _ number: Int) async throws -> Value

  /// Creates an answer that returns a value.
  ///
  /// - Parameter value: The value that the fetch returns.
  /// - Returns: The answer.
  public static func value(_ value: Value) -> OriginAnswer {
    OriginAnswer { _, _ in value }
  }

  /// Creates an answer that fails.
  ///
  /// - Parameter error: The error that the fetch throws.
  /// - Returns: The answer.
  public static func failure(_ error: any Error) -> OriginAnswer {
    OriginAnswer { _, _ in throw error }
  }

  /// Creates an answer from a closure.
  ///
  /// - Parameter body: The closure that computes the value from the key and the number of the call. Calls of a key
  ///   are numbered from 1. The closure runs in the fetch's task, with its priority and its task-local values. It
  ///   can suspend.
  /// - Returns: The answer.
  public static func computed(
    _ body: @escaping @Sendable (_ key: Key, _ number: Int) async throws -> Value
  ) -> OriginAnswer {
    OriginAnswer(give: body)
  }

  /// Creates an answer that waits until a gate is open. It throws `CancellationError` when the fetch is cancelled
  /// while it waits.
  ///
  /// - Parameters:
  ///   - gate: The gate at which the fetch waits.
  ///   - answer: The answer after the wait.
  /// - Returns: The answer.
  public static func gated(_ gate: Gate, _ answer: OriginAnswer) -> OriginAnswer {
    OriginAnswer { key, number in
      try await gate.pass()
      return try await answer.give(key, number)
    }
  }

  /// Creates an answer that waits until a gate is open, and ignores cancellation while it waits.
  ///
  /// - Parameters:
  ///   - gate: The gate at which the fetch waits.
  ///   - answer: The answer after the wait.
  /// - Returns: The answer.
  public static func gatedUncancelled(_ gate: Gate, _ answer: OriginAnswer) -> OriginAnswer {
    OriginAnswer { key, number in
      await gate.passUncancelled()
      return try await answer.give(key, number)
    }
  }

  /// Creates an answer that first yields its task several times.
  ///
  /// On a ``SeededExecutor``, each yield lets the seed run other jobs that are ready.
  ///
  /// - Parameters:
  ///   - times: The number of times that the task yields.
  ///   - answer: The answer after the last yield.
  /// - Returns: The answer.
  public static func yielding(_ times: Int, _ answer: OriginAnswer) -> OriginAnswer {
    OriginAnswer { key, number in
      for _ in 0..<times { await Task.yield() }
      return try await answer.give(key, number)
    }
  }
}
