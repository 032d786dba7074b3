import CisternCore
import LMDB

// Records that are values under their keys, and the eviction order.

extension DiskVerification {
  mutating func readRecords(
    in tables: OrderedTables, _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) {
    for generation in names.keys { countFromZero(generation) }
    var cursor = try transaction.cursor(in: tables.records)
    while try cursor.moveToNext() {
      try step()
      if VerifiedRecord.isTableName(at: cursor) { continue }
      guard let entry = VerifiedRecord(at: cursor) else {
        result.add(.init(.strayRecord, description: "a record has a key with an invalid format"))
        continue
      }
      result.recordCount += 1
      result.recordBytes = .bytes(result.recordBytes.bytes + entry.size + entry.key.count)
      recount[entry.key.generation, default: GenerationCounts()].records += 1
      recount[entry.key.generation, default: GenerationCounts()].bytes += entry.size + entry.key.count
      if entry.sequence == nil || entry.metadata != nil { note(entry.metadata, at: .key(entry.key)) }
      guard let sequence = entry.sequence else {
        find(.damagedRecord, in: entry, " has a wrong checksum")
        continue
      }
      if try !leads(sequence, to: entry.key, in: tables, transaction) {
        find(.unorderedRecord, in: entry, " is not in the eviction order under its number, \(sequence.number)")
      }
    }
  }

  private func leads(
    _ sequence: SequenceNumber, to key: borrowing DiskKey, in tables: OrderedTables,
    _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> Bool {
    guard let entry = try transaction.value(forKey: sequence.orderKey, in: tables.order) else { return false }
    return key.withBytes { entry.hasSameBytes(as: $0) }
  }

  mutating func readOrder(
    in tables: OrderedTables, _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) {
    var cursor = try transaction.cursor(in: tables.order)
    while try cursor.moveToNext() {
      try step()
      guard let sequence = cursor.key.map(SequenceNumber.init(orderKey:)), let key = VerifiedRecord.orderKey(at: cursor)
      else {
        result.add(.init(.danglingOrder, description: "an entry of the eviction order contains no key"))
        continue
      }
      if try !hasNumber(sequence, under: key, in: tables, transaction) {
        result.add(
          .init(
            .danglingOrder, cache: names[key.generation], key: key.isDigest ? nil : key.directKey,
            description: "number \(sequence.number) of the eviction order refers to no record with this number"))
      }
    }
  }

  private func hasNumber(
    _ sequence: SequenceNumber, under key: borrowing DiskKey, in tables: OrderedTables,
    _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> Bool {
    guard let record = try transaction.value(forKey: key, in: tables.records) else { return false }
    return RecordHeader(trusting: record)?.sequence == sequence
  }

  private mutating func find(_ kind: StoreVerification.Defect.Kind, in entry: VerifiedRecord, _ description: String) {
    let cache = names[entry.key.generation]
    let place = cache.map { " of cache \(String(reflecting: $0))" } ?? ""
    result.add(.init(kind, cache: cache, key: entry.fullKey, description: entry.name + place + description))
  }
}

/// A copy of the data of a record that the verification needs.
private struct VerifiedRecord {
  let key: DiskKey
  let size: Int
  /// Nil if the record is damaged.
  let sequence: SequenceNumber?
  /// Nil for a record that is damaged, or too small for a renewal.
  let metadata: RecordMetadata?
  /// The key as the cache knows it. Nil if it is long and the record is damaged.
  let fullKey: [UInt8]?
  let name: String

  init?(at cursor: borrowing Cursor<Database, CursorReads>) {
    guard let bytes = cursor.key, let record = cursor.value, let key = DiskKey(bytes) else { return nil }
    self.key = key
    size = record.byteCount
    let header = RecordHeader(record, under: bytes)
    sequence = header?.sequence
    metadata = size < RecordRenewal.leastValueSize ? nil : header?.metadata(of: record)
    fullKey = key.isDigest ? header.map { record.extracting($0.key).copiedBytes() } : key.directKey
    name =
      key.isDigest
      ? "a record with a long key"
      : "the record of \(String(reflecting: String(decoding: key.directKey, as: UTF8.self)))"
  }

  static func isTableName(at cursor: borrowing Cursor<Database, CursorReads>) -> Bool {
    guard let key = cursor.key else { return false }
    return key.byteCount < DiskKey.prefixSize
  }

  static func orderKey(at cursor: borrowing Cursor<IntegerDatabase, CursorReads>) -> DiskKey? {
    guard let value = cursor.value else { return nil }
    return DiskKey(value)
  }
}
