import CisternCore
import LMDB

extension DiskEngine {
  /// Calls `body` with each committed record of the partition until it returns false.
  ///
  /// Skips damaged records, and records with a staged replacement or removal. Each snapshot lasts for a few records
  /// only, so a slow `body` does not prevent the reuse of the file's pages.
  func forEachRecord(
    of partition: Partition, _ body: (_ key: RawSpan, RecordMetadata, _ size: Int) throws -> Bool
  ) rethrows {
    var last: [UInt8]?
    while true {
      guard !isInherited, mode != .closed, let file else { return }
      let records = nextRecords(of: partition, after: last, in: file)
      guard let final = records.last else { return }
      last = final.diskKey
      for record in records {
        guard let metadata = record.metadata, partition.stagedWrite(forKey: record.key.rawSpan) == nil,
          !partition.invalidations.concealsCommitted(metadata, key: record.key.rawSpan)
        else { continue }
        guard try body(record.key.rawSpan, metadata, record.size) else { return }
      }
    }
  }

  /// A copy of the data of a record that the listing needs.
  private struct ListedRecord {
    let diskKey: [UInt8]
    let key: [UInt8]
    /// Nil if the record is damaged.
    let metadata: RecordMetadata?
    let size: Int

    /// Copies the record at the cursor. Returns nil if it does not belong to the generation.
    init?(at cursor: borrowing Cursor<Database, CursorReads>, generation: Generation) {
      guard let bytes = cursor.key, let record = cursor.value, DiskKey.generation(of: bytes) == generation else {
        return nil
      }
      diskKey = bytes.copiedBytes()
      guard let present = DiskKey(bytes), let header = RecordHeader(record, under: bytes) else {
        key = []
        metadata = nil
        size = record.byteCount
        return
      }
      key = present.isDigest ? record.extracting(header.key).copiedBytes() : present.directKey
      metadata = header.metadata(of: record)
      size = header.value.count
    }
  }

  /// Returns the next records after the key `last`, or the first ones if `last` is nil. Empty at the end.
  private func nextRecords(of partition: Partition, after last: [UInt8]?, in file: DiskFile) -> [ListedRecord] {
    let environment = file.environment
    guard let transaction = beginRead(of: environment) else { return [] }
    let generation = generation(of: partition, in: transaction, of: file)
    guard generation != .zero else { return [] }
    var listed: [ListedRecord] = []
    do {
      var cursor = try transaction.cursor(in: file.recordTables.records)
      let start = DiskKey(startOf: generation).copiedBytes()
      var isAtRecord: Bool
      if let last {
        isAtRecord = try cursor.move(toFirstFrom: last.rawSpan)
      } else {
        isAtRecord = try cursor.move(toFirstFrom: start.rawSpan)
      }
      while isAtRecord, listed.count < 64, let record = ListedRecord(at: cursor, generation: generation) {
        if record.diskKey != last { listed.append(record) }
        isAtRecord = try cursor.moveToNext()
      }
    } catch {
      noteReadFailure(error, of: environment)
    }
    return listed
  }
}
