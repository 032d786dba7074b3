import Dispatch
import Foundation

/// The files of a run that stay if the process ends before the run.
struct RunRemains: Sendable {
  /// The temporary directory of the run. A store in a directory of the user is not in it.
  let directory: String
  /// The path of the incomplete report, or nil.
  let partialReport: String?

  func remove() {
    // The run continues until the process ends, and can create a file during the removal. An error leaves files, but
    // must not keep the process.
    for _ in 0..<3 where FileManager.default.fileExists(atPath: directory) {
      try? FileManager.default.removeItem(atPath: directory)
    }
    if let partialReport { try? FileManager.default.removeItem(atPath: partialReport) }
  }
}
