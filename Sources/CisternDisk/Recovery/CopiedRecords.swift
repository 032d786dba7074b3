import CisternCore
import LMDB

/// The records of a file that readers see, from the oldest to the newest, for a new dense file.
enum CopiedRecords {
  case underKeys(KeptRecords, order: [Int])
  case inExtents(AgedRecords)

  /// Lists the newest records that may fit into a map.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - mapSize: The size of the new file's map, in bytes.
  ///   - extents: The layout of the new file's extents.
  ///   - largestRecord: The limit on the size of a record with its key.
  /// - Throws: `LMDBError` if the file cannot be read.
  init(of file: DiskFile, mapSize: Int, extents: ExtentLayout, largestRecord: Int) throws(LMDBError) {
    switch file.layout {
    case .ordered:
      let kept = try KeptRecords(of: file, pages: mapSize / DiskLimits.pageSize, largestRecord: largestRecord)
      let order = kept.entries.indices.sorted { kept.entries[$0].sequence < kept.entries[$1].sequence }
      self = .underKeys(kept, order: order)
    case .dense(let tables):
      self = .inExtents(try AgedRecords(of: file, tables, bytes: mapSize, in: extents, largestRecord: largestRecord))
    }
  }

  var count: Int {
    switch self {
    case .underKeys(let kept, _): kept.entries.count
    case .inExtents(let records): records.entries.count
    }
  }

  /// The number of all records that readers see and that are not too large, with those that do not fit.
  var total: Int {
    switch self {
    case .underKeys(let kept, _): kept.entries.count
    case .inExtents(let records): records.entries.count + records.omittedCount
    }
  }

  /// The approximate number of bytes of a record.
  func size(at position: Int) -> Int {
    switch self {
    case .underKeys(let kept, let order): kept.entries[order[position]].size
    case .inExtents(let records): records.entries[position].size
    }
  }

  /// Returns a record with its generation. The draft of a damaged record is nil.
  func draft(
    at position: Int, in transaction: borrowing ReadTransaction, of file: DiskFile
  ) throws(LMDBError) -> (generation: Generation, draft: RecordDraft?) {
    switch self {
    case .underKeys(let kept, let order):
      guard let key = DiskKey(kept.key(of: kept.entries[order[position]]).rawSpan) else { return (.zero, nil) }
      guard let record = try transaction.value(forKey: key, in: file.orderedTables.records),
        let header = RecordHeader(record, under: key)
      else { return (key.generation, nil) }
      var metadata = header.metadata(of: record)
      try file.renew(&metadata, valueSize: header.value.count, at: .key(key), in: transaction)
      return (
        key.generation,
        RecordDraft(
          key: key.isDigest ? record.extracting(header.key).copiedBytes() : key.directKey,
          metadata: metadata, bytes: record.extracting(header.value).copiedBytes())
      )
    case .inExtents(let records):
      let entry = records.entries[position]
      return (entry.generation, try file.draft(at: entry.address, in: transaction))
    }
  }
}

extension DiskFile {
  /// Returns a copy of the record at an address, with its newest times. Nil if it is damaged, or the file has no
  /// extents.
  func draft(
    at address: RecordAddress, in transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> RecordDraft? {
    guard case .dense(let tables) = layout, let record = try tables.bytes(at: address, in: transaction),
      let header = PackedHeader(record, at: address)
    else { return nil }
    var metadata = header.metadata(of: record)
    try renew(&metadata, valueSize: header.value.count, at: .address(address), in: transaction)
    return RecordDraft(
      key: record.extracting(header.key).copiedBytes(), metadata: metadata,
      bytes: record.extracting(header.value).copiedBytes())
  }
}
