import CisternCore

/// The newer times of a record. A row of the store's own table holds them, and the record keeps its own times.
///
/// A fetch that keeps a stored value changes only the value's times. A renewal saves the write of a large value.
///
/// It is a class, because most records have none, and look-ups pass an optional one.
final class RecordRenewal: Sendable {
  /// The size from which values get renewals, in bytes. The page of a smaller one costs no more than that of the row.
  static let leastValueSize = 4096

  /// The time of creation in the record itself.
  ///
  /// A program of an older version leaves the row when it replaces the record. A new value under its key has another
  /// time.
  private let createdInRecord: WallTime
  /// Metadata with the newer times, and defaults otherwise.
  private let times: RecordMetadata

  /// Creates the renewal that makes a record equal to a draft. Returns nil if the two differ in more than their times.
  ///
  /// - Parameters:
  ///   - metadata: The metadata in the record itself.
  ///   - value: The value of the record.
  ///   - draft: The draft.
  init?(of metadata: RecordMetadata, _ value: RawSpan, as draft: borrowing RecordDraft) {
    guard value.byteCount >= Self.leastValueSize, metadata.hasSameContents(as: draft.metadata),
      value.hasSameBytes(as: draft.bytes.rawSpan)
    else { return nil }
    createdInRecord = metadata.created
    times = draft.metadata.times
  }

  /// Returns whether the renewal belongs to the record that has this metadata itself.
  func concerns(_ metadata: RecordMetadata) -> Bool { metadata.created == createdInRecord }

  /// Gives the metadata of a record the newer times. Has no effect on that of another record.
  ///
  /// A program of an older version can have written the record again, to note a later use.
  func apply(to metadata: inout RecordMetadata) {
    guard concerns(metadata) else { return }
    let lastUsed = metadata.lastUsed
    metadata.adoptTimes(of: times)
    if let lastUsed, lastUsed > times.lastUsed ?? times.created { metadata.lastUsed = lastUsed }
  }

  /// Returns the metadata of a record with the newer times, or unchanged for another record.
  func applied(to metadata: RecordMetadata) -> RecordMetadata {
    var metadata = metadata
    apply(to: &metadata)
    return metadata
  }

  // MARK: Encoding

  private static let known: RecordFields = [.expiry, .grace, .idle, .lastUsed, .refreshAhead, .windows]
  /// The size of both times of creation and of the flags.
  private static let fixedSize = 18

  /// The contents of the row: the time of creation in the record, the newer one, the flags, and the fields that these
  /// name.
  var bytes: [UInt8] {
    let fields = RecordFields(of: times, storesKeyLength: false)
    var bytes = [UInt8](repeating: 0, count: Self.fixedSize + fields.size)
    var span = bytes.mutableSpan
    // Every pattern of bytes is valid.
    var target = unsafe span.mutableBytes
    var offset = 0
    target.store(createdInRecord.nanosecondsSince1970, at: &offset)
    target.store(times.created.nanosecondsSince1970, at: &offset)
    target.store(fields.rawValue, at: &offset)
    fields.encode(times, tagsSize: 0, keySize: 0, into: &target, at: &offset)
    return bytes
  }

  /// Reads the contents of a row, which can be arbitrary bytes. Returns nil if they have another form.
  init?(_ row: RawSpan) {
    guard row.byteCount >= Self.fixedSize else { return nil }
    var offset = 0
    createdInRecord = WallTime(nanosecondsSince1970: row.next(at: &offset))
    var times = RecordMetadata(created: WallTime(nanosecondsSince1970: row.next(at: &offset)), cost: 0)
    let fields = RecordFields(rawValue: row.next(at: &offset))
    guard fields.isSubset(of: Self.known), row.byteCount == Self.fixedSize + fields.size else { return nil }
    fields.decode(row, at: offset, into: &times)
    self.times = times
  }
}

extension RecordRenewal: Equatable {
  static func == (left: RecordRenewal, right: RecordRenewal) -> Bool {
    left.createdInRecord == right.createdInRecord && left.times == right.times
  }
}

extension RecordMetadata {
  /// Returns whether the two differ only in their times and invalidation versions.
  fileprivate func hasSameContents(as other: RecordMetadata) -> Bool {
    cost == other.cost && schemaVersion == other.schemaVersion && tags == other.tags && isNegative == other.isNegative
  }

  /// Metadata with the same times, and defaults otherwise.
  fileprivate var times: RecordMetadata {
    var times = RecordMetadata(created: created, cost: 0)
    times.adoptTimes(of: self)
    return times
  }

  fileprivate mutating func adoptTimes(of other: RecordMetadata) {
    created = other.created
    expires = other.expires
    grace = other.grace
    windows = other.windows
    idle = other.idle
    lastUsed = other.lastUsed
    refreshAhead = other.refreshAhead
  }
}
