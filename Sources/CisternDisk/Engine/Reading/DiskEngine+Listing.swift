import CisternCore
import LMDB

extension DiskEngine {
  /// Calls `body` with each committed record of the partition until it returns false.
  ///
  /// Skips damaged records, which are then removed, and records with a staged replacement or removal. A record whose
  /// removal is committed during the call can be listed, because the snapshot can be older. Each snapshot lasts for a
  /// few records only, so a slow `body` does not prevent the reuse of the file's pages.
  ///
  /// - Returns: False if the file could not be read to the end.
  func listRecords(
    of partition: Partition, _ body: (_ key: RawSpan, RecordMetadata, _ size: Int) throws -> Bool
  ) rethrows -> Bool {
    var last: [UInt8]?
    var isReadable = true
    var openingsLeft = 3
    // The writer thread opens a replaced file again.
    func opensAgain() -> Bool {
      openingsLeft -= 1
      return mode == .active && openingsLeft >= 0
    }
    reading: while isReadable {
      if isInherited || mode == .closed { return true }
      guard let file else {
        // A read-only store may have no file.
        if options.isReadOnly { return true }
        guard opensAgain() else { return false }
        awaitFollowing()
        continue
      }
      let records = nextRecords(of: partition, after: last, in: file, isReadable: &isReadable)
      if !isReadable, self.file !== file, opensAgain() {
        isReadable = true
        continue
      }
      guard let final = records.last else { return isReadable }
      for record in records {
        guard let metadata = record.metadata else {
          if !record.key.isEmpty { reportDefect(record.key.rawSpan, of: partition) }
          continue
        }
        let isShown = shows(metadata, key: record.key.rawSpan, of: partition)
        // Another file has other invalidations. The rest is read from it.
        if self.file !== file { continue reading }
        last = record.position
        guard isShown else { continue }
        guard try body(record.key.rawSpan, metadata, record.size) else { return true }
      }
      last = final.position
    }
    return false
  }

  /// Returns whether neither a staged write, an invalidation nor another codec hides a record that was read earlier.
  private func shows(_ metadata: RecordMetadata, key: RawSpan, of partition: Partition) -> Bool {
    if partition.isOfOtherCodec(metadata.schemaVersion) { return false }
    if let entry = partition.stagedEntryExceptRewrite(forKey: key) {
      // Another process may have written the record after it invalidated the staged one.
      guard case .written(let number)? = partition.condition(of: entry), metadata.invalidationVersion >= number else {
        return false
      }
    }
    return !partition.invalidations.concealsCommitted(metadata, key: key)
  }

  /// Returns the next records after the position `last`, or the first ones if `last` is nil. Empty at the end.
  ///
  /// If the file cannot be read, sets `isReadable` to false, and returns the records before the defect.
  private func nextRecords(
    of partition: Partition, after last: [UInt8]?, in file: DiskFile, isReadable: inout Bool
  ) -> [ListedRecord] {
    let environment = file.environment
    guard let transaction = beginRead(of: environment) else {
      isReadable = false
      return []
    }
    let generation = generation(of: partition, in: transaction, of: file)
    guard generation != .zero else {
      isReadable = partition.isLearned
      return []
    }
    var listed: [ListedRecord] = []
    do throws(LMDBError) {
      switch file.layout {
      case .ordered(let tables):
        var cursor = try transaction.cursor(in: tables.records)
        try ListedRecord.read(&listed, at: &cursor, generation: generation, after: last)
        for index in listed.indices { try listed[index].renew(of: file, in: transaction) }
      case .dense:
        try ListedRecord.read(&listed, of: file, generation: generation, after: last, in: transaction)
      }
      try ListedRecord.checkOrder(of: &listed, after: last)
    } catch {
      isReadable = false
      noteReadFailure(error, of: environment)
    }
    return listed
  }
}
