/// What a ``ScriptedOrigin`` answers a fetch with.
public struct OriginAnswer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let give: @Sendable (_ key: Key, _ number: Int) async throws -> Value

  /// This value.
  public static func value(_ value: Value) -> OriginAnswer {
    OriginAnswer { _, _ in value }
  }

  /// This error.
  public static func failure(_ error: any Error) -> OriginAnswer {
    OriginAnswer { _, _ in throw error }
  }

  /// What `body` makes of the key and the number of the call (from 1, per key). It may suspend, and runs in the fetch's
  /// task, with its priority and its task-local values.
  public static func computed(
    _ body: @escaping @Sendable (_ key: Key, _ number: Int) async throws -> Value
  ) -> OriginAnswer {
    OriginAnswer(give: body)
  }

  /// Another answer, once the gate is open; `CancellationError` as soon as the fetch is cancelled before.
  public static func gated(_ gate: Gate, _ answer: OriginAnswer) -> OriginAnswer {
    OriginAnswer { key, number in
      try await gate.pass()
      return try await answer.give(key, number)
    }
  }

  /// Another answer, once the gate is open, by an origin that does not notice that it was cancelled.
  public static func gatedUncancelled(_ gate: Gate, _ answer: OriginAnswer) -> OriginAnswer {
    OriginAnswer { key, number in
      await gate.passUncancelled()
      return try await answer.give(key, number)
    }
  }

  /// Another answer, after the task has yielded so many times: on a ``SeededExecutor``, after any other work that is
  /// ready, or before.
  public static func yielding(_ times: Int, _ answer: OriginAnswer) -> OriginAnswer {
    OriginAnswer { key, number in
      for _ in 0..<times { await Task.yield() }
      return try await answer.give(key, number)
    }
  }
}
