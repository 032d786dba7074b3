import Locking

/// Counts the values that the origin of a run gives, and keeps its last failure.
final class OriginAnswers: Sendable {
  private struct State {
    var values = 0
    var lastFailure: String?
  }

  private let state = Guarded(State())

  /// How many requests were answered with a value.
  var values: Int { state.withLock { $0.values } }

  /// Runs a request, and notes how it ends. The cancellation of a request is not a failure of the origin.
  func note<Value>(_ request: () async throws -> Value) async throws -> Value {
    do {
      let value = try await request()
      state.withLock { $0.values += 1 }
      return value
    } catch {
      if !Task.isCancelled {
        let reason = HTTPOrigin.reason(of: error)
        state.withLock { $0.lastFailure = reason }
      }
      throw error
    }
  }

  /// The reason of the last failure, if the origin gave no value at all.
  var failureWithoutValue: String? { state.withLock { $0.values == 0 ? $0.lastFailure : nil } }
}
