import CisternCore
import LMDB

/// The records of a file that readers see, from the oldest to the newest, for a new file of any layout.
enum CopiedRecords {
  case underKeys(KeptRecords, order: [Int])
  case inExtents(AgedRecords, FileTables)

  /// Lists the newest records that may fit into a new file.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - layout: The layout of the new file.
  ///   - mapSize: The size of the new file's map, in bytes.
  ///   - largestRecord: The limit on the size of a record with its key.
  init(of file: DiskFile, for layout: DiskLayout, mapSize: Int, largestRecord: Int) throws(LMDBError) {
    // The records of extents come in the order of their ages, so that they fill the pages of a tree by two thirds.
    let bytes = layout == .dense ? mapSize : mapSize * 2 / 5
    switch file.layout {
    case .records:
      let kept = try KeptRecords(of: file, pages: bytes / DiskLimits.pageSize, largestRecord: largestRecord)
      let order = kept.entries.indices.sorted { kept.entries[$0].sequence < kept.entries[$1].sequence }
      self = .underKeys(kept, order: order)
    case .extents(let tables):
      let records = try AgedRecords(of: file, tables, bytes: bytes, largestRecord: largestRecord) { size in
        layout == .dense ? ExtentLayout.room(for: size) : DiskLimits.roomUnderKey(size)
      }
      self = .inExtents(records, tables)
    }
  }

  var count: Int {
    switch self {
    case .underKeys(let kept, _): kept.entries.count
    case .inExtents(let records, _): records.entries.count
    }
  }

  /// The approximate number of bytes of a record.
  func size(at position: Int) -> Int {
    switch self {
    case .underKeys(let kept, let order): kept.entries[order[position]].size
    case .inExtents(let records, _): records.entries[position].size
    }
  }

  /// Returns a record with its generation. The draft of a damaged record is nil.
  func draft(
    at position: Int, in transaction: borrowing ReadTransaction, of file: DiskFile
  ) throws(LMDBError) -> (generation: Generation, draft: RecordDraft?) {
    switch self {
    case .underKeys(let kept, let order):
      guard let key = DiskKey(kept.key(of: kept.entries[order[position]]).rawSpan) else { return (.zero, nil) }
      guard let record = try transaction.value(forKey: key, in: file.recordTables.records),
        let header = RecordHeader(record, under: key)
      else { return (key.generation, nil) }
      return (
        key.generation,
        RecordDraft(
          key: key.isDigest ? record.extracting(header.key).copiedBytes() : key.directKey,
          metadata: header.metadata(of: record), bytes: record.extracting(header.value).copiedBytes())
      )
    case .inExtents(let records, let tables):
      let entry = records.entries[position]
      guard let record = try tables.bytes(at: entry.address, in: transaction),
        let header = PackedHeader(record, at: entry.address)
      else { return (entry.generation, nil) }
      return (
        entry.generation,
        RecordDraft(
          key: record.extracting(header.key).copiedBytes(), metadata: header.metadata(of: record),
          bytes: record.extracting(header.value).copiedBytes())
      )
    }
  }
}

extension DiskLimits {
  /// Returns the approximate number of bytes that a record takes under its key in a full page, with its entry in the order.
  fileprivate static func roomUnderKey(_ size: Int) -> Int {
    size + 128 < pageSize / 2 ? size + 128 : (size + 64 + 2 * pageSize - 1) / pageSize * pageSize
  }
}
