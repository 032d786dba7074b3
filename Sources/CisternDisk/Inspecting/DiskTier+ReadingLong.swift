import CisternCore
import LMDB
import Locking

extension DiskTier {
  /// Runs a read of the whole file on a new thread, which can block for a long time.
  ///
  /// - Parameters:
  ///   - operation: The operation, as an error names it.
  ///   - body: The read. It ends soon after it was interrupted, and throws any error then.
  /// - Returns: The result of `body`.
  /// - Throws: `CancellationError` if the task was cancelled, and ``CisternError`` for all other problems.
  func readLong<Result: Sendable>(
    _ operation: String, _ body: @escaping @Sendable (DiskEngine, LongRead) throws -> Result
  ) async throws -> Result {
    try requireOpen(operation)
    let (engine, read) = (engine, LongRead())
    do {
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          do {
            // A backup writes.
            try SystemThread.startForWriting {
              continuation.resume(
                with: Swift.Result { try engine.longReads.run(read) { read in try body(engine, read) } })
            }
          } catch {
            continuation.resume(throwing: error)
          }
        }
      } onCancel: {
        read.interrupt(.cancelled)
      }
    } catch {
      throw engine.error(of: read, error, operation)
    }
  }

  /// Throws if the tier is closed, or belongs to the parent process.
  func requireOpen(_ operation: String) throws(CisternError) {
    if isClosed || engine.isInherited { throw engine.closedError(operation) }
  }
}

extension DiskEngine {
  /// Returns the error for the caller of a read that has failed or was interrupted.
  fileprivate func error(of read: LongRead, _ error: any Error, _ operation: String) -> any Error {
    let location = "\(operation), \(directory)"
    switch read.interruption {
    case .cancelled: return CancellationError()
    case .closed: return closedError(operation)
    case .fileReplaced:
      return CisternError(.diskFailed, "the data file was replaced during the operation", location: location)
    case .roomNeeded:
      return CisternError(
        .noSpace, "the store needed the pages that the operation kept for its snapshot", location: location,
        remedy: "Try again while fewer values are written, or raise the store's disk limit")
    case nil: break
    }
    guard let failure = error as? LMDBError else {
      return error is CisternError
        ? error : CisternError(.diskFailed, "the operation failed", location: location, cause: error)
    }
    return switch failure.code {
    case .closed, .forked: closedError(operation)
    case .noSpace: CisternError(.noSpace, "the disk has no space left", location: location, cause: failure, remedy: nil)
    default: CisternError(.diskFailed, "the operation failed", location: location, cause: failure)
    }
  }
}
