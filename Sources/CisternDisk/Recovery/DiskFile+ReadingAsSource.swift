import LMDB
import Synchronization

// A data file as the source of its copy. An error of the copy can have the same code as one of the file.

extension DiskFile {
  /// Calls `body`, which reads this file for its copy. Notes an error, because it concerns this file and not the copy.
  func asSource<Result>(_ body: () throws(LMDBError) -> Result) throws(LMDBError) -> Result {
    do throws(LMDBError) {
      return try body()
    } catch {
      hasFailedAsSource.store(true, ordering: .relaxed)
      throw error
    }
  }

  /// Calls `body` with a read transaction, as ``asSource(_:)`` does.
  func readAsSource<Result>(
    _ body: (borrowing ReadTransaction) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result {
    try asSource { () throws(LMDBError) -> Result in try environment.withRead(body) }
  }

  /// Returns whether this file causes an error of its copy, so that each further copy would fail too.
  func causes(_ error: LMDBError) -> Bool {
    // A device that cannot read a part of the file seldom reads it later. Other errors, such as a lack of descriptors,
    // pass.
    if hasFailedAsSource.load(ordering: .relaxed) { return error.isAboutTheFile || error.code == .ioError }
    // A new file takes all records in order. Only damaged keys of this file prevent that.
    return error.code == .keyExists || error.code == .badValueSize
  }
}
