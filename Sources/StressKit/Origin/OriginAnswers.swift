import Locking

/// The number of values that the origin of a run returned, and its last failure.
final class OriginAnswers: Sendable {
  private struct State {
    var values = 0
    var lastFailure: String?
  }

  private let state = Guarded(State())

  /// The number of requests that returned a value.
  var values: Int { state.withLock { $0.values } }

  /// Runs a request, and records its result. A cancelled request is not a failure of the origin.
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

  /// The reason of the last failure, if the origin never returned a value.
  var failureWithoutValue: String? { state.withLock { $0.values == 0 ? $0.lastFailure : nil } }
}
