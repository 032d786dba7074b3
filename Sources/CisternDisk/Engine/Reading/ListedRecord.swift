import CisternCore
import LMDB

/// A copy of the data of a record that a listing of all records needs.
struct ListedRecord {
  /// The position in the order of the file.
  let position: [UInt8]
  /// Empty if damage makes the key unreadable.
  var key: [UInt8] = []
  /// Nil if the record is damaged.
  var metadata: RecordMetadata?
  /// The number of bytes of the value.
  var size = 0

  /// The number of records that one transaction reads. All records at one position are read together.
  private static let count = 64

  private init(position: [UInt8]) { self.position = position }

  /// Removes the records from the first one that precedes those before it, and throws if there is one.
  static func checkOrder(of listed: inout [ListedRecord], after last: [UInt8]?) throws(LMDBError) {
    var previous = last
    for (index, record) in listed.enumerated() {
      if let previous {
        // Only records that one transaction reads can be at the same position.
        let isInOrder =
          index == 0
          ? previous.rawSpan.precedes(record.position.rawSpan) : !record.position.rawSpan.precedes(previous.rawSpan)
        guard isInOrder else {
          listed.removeSubrange(index...)
          throw .recordsOutOfOrder()
        }
      }
      previous = record.position
    }
  }

  // MARK: Records under their keys

  /// Reads the next records after a position, or the first ones if it is nil.
  static func read(
    _ listed: inout [ListedRecord], at cursor: inout Cursor<Database, CursorReads>, generation: Generation,
    after last: [UInt8]?
  ) throws(LMDBError) {
    let start = last ?? DiskKey(startOf: generation).copiedBytes()
    var isAtRecord = try cursor.move(toFirstFrom: start.rawSpan)
    while isAtRecord, listed.count < count, let record = ListedRecord(at: cursor, generation: generation) {
      if record.position != last { listed.append(record) }
      isAtRecord = try cursor.moveToNext()
    }
  }

  /// Copies the record at the cursor. Returns nil if it does not belong to the generation.
  private init?(at cursor: borrowing Cursor<Database, CursorReads>, generation: Generation) {
    guard let bytes = cursor.key, let record = cursor.value, DiskKey.generation(of: bytes) == generation else {
      return nil
    }
    self.init(position: bytes.copiedBytes())
    guard let fileKey = DiskKey(bytes) else { return }
    if !fileKey.isDigest {
      key = fileKey.directKey
    } else if let header = RecordHeader(trusting: record) {
      key = record.extracting(header.key).copiedBytes()
    }
    guard let header = RecordHeader(record, under: bytes) else { return }
    metadata = header.metadata(of: record)
    size = header.value.count
  }

  /// Gives the metadata the newest times.
  mutating func renew(of file: DiskFile, in transaction: borrowing ReadTransaction) throws(LMDBError) {
    guard var renewed = metadata, let fileKey = DiskKey(position.rawSpan) else { return }
    try file.renew(&renewed, valueSize: size, at: .key(fileKey), in: transaction)
    metadata = renewed
  }

  // MARK: Records in extents

  /// Reads the next records after the position of a digest, or the first ones if it is nil.
  static func read(
    _ listed: inout [ListedRecord], of file: DiskFile, generation: Generation, after last: [UInt8]?,
    in transaction: borrowing ReadTransaction
  ) throws(LMDBError) {
    guard case .dense(let tables) = file.layout else { preconditionFailure("the file has no extents") }
    var cursor = try transaction.cursor(forKey: IndexKey(generation.number), in: tables.index)
    var isAtItem =
      if let last = last.flatMap({ RecordDigest($0.rawSpan) }) {
        try cursor.move(toFirstAfter: last.bits)
      } else {
        try cursor.moveToFirst()
      }
    while isAtItem, let item = cursor.item {
      let position = RecordDigest(lowBits: item.digest).bytes
      if listed.count >= count, listed.last?.position != position { return }
      var record = ListedRecord(position: position)
      if let address = RecordAddress(bits: item.address) {
        let item = LocatedDigest(digest: RecordDigest(lowBits: item.digest), address: address)
        try record.copy(item, tables, of: file, in: transaction)
      }
      listed.append(record)
      isAtItem = try cursor.moveToNext()
    }
  }

  private mutating func copy(
    _ item: LocatedDigest, _ tables: DenseTables, of file: DiskFile, in transaction: borrowing ReadTransaction
  ) throws(LMDBError) {
    guard let record = try tables.bytes(at: item.address, in: transaction),
      let header = PackedHeader(trusting: record, at: item.address),
      RecordDigest(of: record.extracting(header.key)) == item.digest
    else { return }
    key = record.extracting(header.key).copiedBytes()
    guard header.isSound(record, at: item.address) else { return }
    var metadata = header.metadata(of: record)
    size = header.value.count
    try file.renew(&metadata, valueSize: size, at: .address(item.address), in: transaction)
    self.metadata = metadata
  }
}
