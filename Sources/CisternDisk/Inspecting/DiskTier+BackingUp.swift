import CisternCore
import LMDB

extension DiskTier {
  /// Writes a copy of the store to another directory, and returns when the copy is on its device.
  ///
  /// The copy has a new identity. Its contents are those of one commit, which is not older than the call. Other threads
  /// and processes can read and write the store at the same time. If the process ends at any time, the directory has
  /// the complete copy or no copy.
  ///
  /// - Parameter target: The directory of the copy, which must be missing or empty. Missing parents are created.
  /// - Throws: `CancellationError` if the task was cancelled, and ``CisternError`` for all other problems.
  /// - Complexity: O(*n*), where *n* is the size of the records.
  package func backUp(to target: String) async throws {
    let target = try BackupPlace(target, source: engine.directory)
    try await flush()
    try await readLong("back up") { engine, read in
      guard let file = engine.file else {
        if engine.mode == .closed { throw engine.closedError("back up") }
        throw CisternError(.diskFailed, "the store has no data file that can be read", location: engine.directory)
      }
      try target.write(copyOf: file, limit: engine.recordedLimit, read)
    }
  }
}

extension DiskEngine {
  /// The disk limit of the store. A read-only store can be open with another limit than the store has.
  ///
  /// A mark that cannot be read does not prevent the backup. The copy then has the limit of this opening.
  fileprivate var recordedLimit: ByteCount {
    guard options.isReadOnly, let mark = try? claim.readMark(), mark.limit > 0 else { return .bytes(limits.limit) }
    return .bytes(mark.limit)
  }
}
