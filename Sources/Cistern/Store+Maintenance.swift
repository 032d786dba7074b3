import CisternCore
import CisternDisk
import Locking

extension Store {
  /// Checks every committed record: its checksum, its place in the eviction order, and the counts of the caches.
  ///
  /// The store can be in use, also by other processes. The check changes nothing: a damaged record is removed when it
  /// is next read. A thread of the library does the work.
  ///
  /// The check reads one snapshot, and the file cannot reuse the pages of a snapshot. If the store needs them for its
  /// writes, the check ends with an error. The writes of other processes cannot end it: they report
  /// ``StoreReport/Code/longReader``, and continue in memory only until the check ends.
  ///
  /// - Returns: The number of checked records, and the defects.
  /// - Throws: `CancellationError` soon after the task was cancelled, or `CisternError` in these cases:
  ///   - The store is closed, or has no directory.
  ///   - The store needs the pages of the snapshot. The code is ``CisternError/Code/noSpace``.
  /// - Complexity: O(*n*), where *n* is the size of the file.
  public nonisolated(nonsending) func verify() async throws -> StoreVerification {
    try await diskTier("verifying a store").verification()
  }

  /// Writes a copy of the store to another directory, which opens as an independent store.
  ///
  /// The staged writes are committed first. The copy contains all caches as of one commit:
  ///
  /// - Records with their tags, times and schema versions.
  /// - Invalidations, also those whose records are not removed yet.
  ///
  /// It does not contain values that are in memory only. The copy is compact, and has the disk limit of the store. It
  /// can be opened with any limit; a smaller one keeps the newest records.
  ///
  /// The store can be in use, also by other processes. A thread of the library does the work:
  ///
  /// 1. It writes the copy into a directory beside `directory`, whose name ends with `.incomplete`.
  /// 2. It checks the pages of the copy, and waits until the copy is on the device.
  /// 3. It renames the directory.
  ///
  /// After a failure, `directory` is as it was. If the process is killed, `directory` is as it was or has the complete
  /// copy. The next backup to `directory` removes the incomplete one.
  ///
  /// The copy needs one snapshot, and the file cannot reuse the pages of a snapshot. If the store needs them for its
  /// writes, the backup ends with an error. The writes of other processes cannot end it: they report
  /// ``StoreReport/Code/longReader``, and continue in memory only until the backup ends.
  ///
  /// - Parameter directory: The path of the copy, which must be missing or an empty directory. Missing parents are
  ///   created.
  /// - Throws: `CancellationError` soon after the task was cancelled, or `CisternError` in these cases:
  ///   - The directory contains files, is in the directory of the store, or cannot be written.
  ///   - The disk has no room for the copy, or the store needs the pages of the snapshot. The code is
  ///     ``CisternError/Code/noSpace``.
  ///   - Another backup writes to the same directory. The code is ``CisternError/Code/storeInUse``.
  ///   - The store is closed, or has no directory.
  ///   - The data file is damaged, or ``flush()`` throws.
  /// - Complexity: O(*n*), where *n* is the size of the records.
  public nonisolated(nonsending) func backup(to directory: String) async throws {
    try await diskTier("backing up a store").backUp(to: directory)
  }

  /// The result of `Store.compact(directory:)`.
  public struct Compaction: Sendable, Hashable {
    /// The size of the data file before.
    public let before: ByteCount
    /// The size of the data file after.
    public let after: ByteCount
    /// The number of damaged records, which the new file omits. Zero if the file stays.
    ///
    /// The number is zero also for the layout ``DiskLayout/ordered``. A compaction copies the pages of such a file, and
    /// reads no record. A damaged record is then removed when it is next read.
    public let damagedRecordCount: Int
  }

  /// Replaces the data file of a store with a copy that is as small as its records allow.
  ///
  /// Records that were removed or invalidated, and are still in the file, are removed first. The copy has all other
  /// sound records. If it would not be smaller, the file stays. If this fails, or if the process is killed, the file or
  /// its copy is there, complete. A thread of the library does the work.
  ///
  /// - Parameter directory: The directory of the store. No process may have the store open, because an open file cannot
  ///   be replaced.
  /// - Returns: The size of the file before and after, and the number of damaged records.
  /// - Throws: `CisternError` in these cases:
  ///   - A process has the store open. The code is ``CisternError/Code/storeInUse``.
  ///   - The directory has no store.
  ///   - The file cannot be used or copied. The device must have room for both files.
  /// - Complexity: O(*n*), where *n* is the size of the file.
  @discardableResult
  public nonisolated(nonsending) static func compact(directory: String) async throws(CisternError) -> Compaction {
    let result = await withCheckedContinuation { continuation in
      do {
        try SystemThread.startForWriting {
          continuation.resume(
            returning: Result { () throws(CisternError) in try DiskTier.compact(directory: directory) })
        }
      } catch {
        continuation.resume(
          returning: .failure(
            CisternError(.diskFailed, "no thread could be started", location: directory, cause: error, remedy: nil)))
      }
    }
    let (before, after, damagedCount) = try result.get()
    return Compaction(before: before, after: after, damagedRecordCount: damagedCount)
  }

  private func diskTier(_ operation: String) throws(CisternError) -> DiskTier {
    guard let tier = try openTier(to: operation) as? DiskTier else { throw Store.noDirectory(operation) }
    return tier
  }
}
