import Foundation
import Locking

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension URLSession {
  /// Returns the response to a request. The cancellation of the calling task cancels the request.
  ///
  /// Use this method instead of `data(for:)`, which can deadlock on Linux (Swift 6.3.1). Its cancellation handler
  /// waits for the session's queue while it holds the lock of the task. The queue may wait for this lock to resume
  /// the task. The handler of this method only dispatches the cancellation.
  func answer(to request: URLRequest) async throws -> (data: Data, response: URLResponse) {
    let call = FetchCall()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let task = dataTask(with: request) { data, response, error in
          if let data, let response, error == nil {
            continuation.resume(returning: (data, response))
          } else {
            continuation.resume(throwing: error ?? URLError(.badServerResponse))
          }
        }
        task.resume()
        call.start(task)
      }
    } onCancel: {
      call.cancel()
    }
  }
}

/// A data task that can be cancelled before it exists.
private final class FetchCall: Sendable {
  private enum State {
    case waiting
    case started(URLSessionDataTask)
    case cancelled
  }

  private let state = Guarded(State.waiting)

  func start(_ task: URLSessionDataTask) {
    let isCancelled = state.withLock { state in
      if case .cancelled = state { return true }
      state = .started(task)
      return false
    }
    if isCancelled { task.cancel() }
  }

  /// Cancels the data task asynchronously. This method must not wait, because the caller holds the lock of the
  /// Swift task.
  func cancel() {
    let task: URLSessionDataTask? = state.withLock { state in
      defer { state = .cancelled }
      if case .started(let task) = state { return task }
      return nil
    }
    if let task { DispatchQueue.global().async { task.cancel() } }
  }
}
