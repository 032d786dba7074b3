import CisternCore
import LMDB

/// The newest records of a file that fit into a number of pages under their keys.
///
/// Eviction would have kept the same records, except for recency marks, which are not in the file.
///
/// - Complexity: O(*n* log *n*), where *n* is the number of gathered records. Each record needs about 90 bytes of
///   memory.
struct KeptRecords {
  /// A kept record.
  struct Entry {
    let sequence: SequenceNumber
    /// The first 16 bytes of the key as two big-endian numbers, for comparisons.
    fileprivate let prefix: (UInt64, UInt64)
    /// The place of the key in the bytes of all keys.
    fileprivate let keyPlace: Range<Int>
    let size: Int
    /// The record's address in a dense file. Nil for a record under its key.
    let address: RecordAddress?

    fileprivate var keyCount: Int { keyPlace.count }
  }

  /// The kept records, sorted by their keys.
  private(set) var entries: [Entry] = []
  private var keys: [UInt8] = []
  /// The counts of each generation's kept records.
  private(set) var counts: [Generation: GenerationCounts] = [:]
  /// The number of damaged records in extents, which are left out.
  private(set) var damagedCount = 0

  /// Selects records of the file. `pages` includes the pages of the eviction order.
  init(of file: DiskFile, pages: Int, largestRecord: Int) throws(LMDBError) {
    let bytes = pages * DiskLimits.pageSize
    switch file.layout {
    case .ordered: try gather(from: file, bytes: bytes, largestRecord: largestRecord)
    case .dense(let tables): try gather(from: file, tables, bytes: bytes, largestRecord: largestRecord)
    }
    sortByKey()
    // Adjacent records leave a part of each page empty, and its size depends on their order. The loop therefore
    // drops the oldest records until the others fit.
    var kept = entries.count
    while kept > 0 {
      let needed = neededPages
      if needed <= pages { break }
      kept = min(kept - 1, kept * pages / needed)
      keepNewest(kept)
    }
    countRecords()
  }

  func key(of entry: Entry) -> [UInt8] { Array(keys[entry.keyPlace]) }

  // MARK: Choosing

  /// Gathers the records from the newest to the oldest, until their bytes alone fill the room.
  private mutating func gather(from file: DiskFile, bytes: Int, largestRecord: Int) throws(LMDBError) {
    // A closure cannot capture a mutating `self`.
    var kept = self
    defer { self = kept }
    let names = try file.partitionNames()
    try file.environment.withRead { (transaction) throws(LMDBError) in
      let generations = try LiveGenerations(named: names, in: transaction, of: file)
      var cursor = try transaction.cursor(in: file.orderedTables.order)
      var room = bytes
      var isAtEntry = try cursor.moveToLast()
      while isAtEntry, room > 0, let sequence = cursor.key.map(SequenceNumber.init(orderKey:)) {
        if let key = KeptRecords.recordKey(at: cursor),
          let record = try transaction.value(forKey: key, in: file.orderedTables.records),
          record.byteCount + key.count <= largestRecord, let header = RecordHeader(trusting: record),
          header.sequence == sequence, generations.shows(record, header, under: key)
        {
          room -= AppendedTableSize.bytes(key: key.count, size: record.byteCount)
          if room >= 0 { kept.append(key, sequence: sequence, size: record.byteCount) }
        }
        isAtEntry = try cursor.moveToPrevious()
      }
    }
  }

  /// Gathers the records of extents in the same way. Their ages are their new sequence numbers.
  private mutating func gather(
    from file: DiskFile, _ tables: DenseTables, bytes: Int, largestRecord: Int
  ) throws(LMDBError) {
    // A closure cannot capture a mutating `self`.
    var kept = self
    defer { self = kept }
    let aged = try AgedRecords(
      of: file, tables, bytes: .max, in: tables.limits.layout, largestRecord: largestRecord
    ).entries
    try file.environment.withRead { (transaction) throws(LMDBError) in
      var room = bytes
      for index in aged.indices.reversed() where room > 0 {
        guard let draft = try file.draft(at: aged[index].address, in: transaction) else {
          kept.damagedCount += 1
          continue
        }
        let key = DiskKey(generation: aged[index].generation, key: draft.key.rawSpan)
        room -= AppendedTableSize.bytes(key: key.count, size: draft.size)
        let sequence = SequenceNumber(number: UInt64(index + 1))
        if room >= 0 { kept.append(key, sequence: sequence, size: draft.size, at: aged[index].address) }
      }
    }
  }

  /// Returns the key in an entry of the eviction order, or nil if the entry has none.
  private static func recordKey(at cursor: borrowing Cursor<IntegerDatabase, CursorReads>) -> DiskKey? {
    guard let value = cursor.value else { return nil }
    return DiskKey(value)
  }

  private mutating func append(
    _ key: DiskKey, sequence: SequenceNumber, size: Int, at address: RecordAddress? = nil
  ) {
    let start = keys.count
    key.withBytes { bytes in for offset in 0..<bytes.byteCount { keys.append(bytes.byte(at: offset)) } }
    entries.append(
      Entry(
        sequence: sequence, prefix: (word(at: start), word(at: start + 8)), keyPlace: start..<keys.count, size: size,
        address: address))
  }

  private func word(at start: Int) -> UInt64 {
    (0..<8).reduce(0) { $0 << 8 | (start + $1 < keys.count ? UInt64(keys[start + $1]) : 0) }
  }

  private mutating func sortByKey() {
    let keys = keys
    entries.sort { left, right in
      if left.prefix != right.prefix { return left.prefix < right.prefix }
      return keys[left.keyPlace].lexicographicallyPrecedes(keys[right.keyPlace])
    }
  }

  private mutating func keepNewest(_ count: Int) {
    var sequences = entries.map(\.sequence)
    sequences.sort(by: >)
    let oldest = count > 0 ? sequences[count - 1] : .max
    entries.removeAll { $0.sequence < oldest }
  }

  private mutating func countRecords() {
    for entry in entries {
      guard let generation = DiskKey.generation(of: key(of: entry).rawSpan) else { continue }
      counts[generation, default: GenerationCounts()].records += 1
      counts[generation, default: GenerationCounts()].bytes += entry.size + entry.keyCount
    }
  }

  /// The number of pages that the records and their eviction order need when they are appended.
  private var neededPages: Int {
    var records = AppendedTableSize()
    var order = AppendedTableSize()
    for entry in entries {
      let key = entry.keyCount
      records.append(AppendedTableSize.leafBytes(key: key, size: entry.size), key: key)
      records.overflowPages += AppendedTableSize.overflowPages(key: key, size: entry.size)
      order.append(AppendedTableSize.orderBytes(key: key), key: 8)
    }
    return records.pages + order.pages
  }
}
