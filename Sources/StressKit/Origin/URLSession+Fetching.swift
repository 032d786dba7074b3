import Foundation
import Locking

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension URLSession {
  /// The answer to a request; cancelled with the calling task.
  ///
  /// In the place of `data(for:)`, which can end in a deadlock on Linux (seen with Swift 6.3.1): its cancellation handler
  /// waits for the session's queue while it holds the task's own lock, which that queue may be waiting for to resume the
  /// task. Here the handler only sends the cancellation off.
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

/// A data task that may be cancelled before it is there.
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

  /// Never waits: it is called with the task's lock held.
  func cancel() {
    let task: URLSessionDataTask? = state.withLock { state in
      defer { state = .cancelled }
      if case .started(let task) = state { return task }
      return nil
    }
    if let task { DispatchQueue.global().async { task.cancel() } }
  }
}
