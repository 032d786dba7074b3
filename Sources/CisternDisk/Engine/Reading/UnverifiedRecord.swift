import CisternCore
import LMDB

/// A record of the file whose checksum was not verified.
struct UnverifiedRecord: ~Escapable {
  enum Header {
    case value(RecordHeader)
    case packed(PackedHeader)
    /// Damage makes the fields unreadable.
    case unreadable
  }

  private let header: Header
  private let bytes: RawSpan
  /// The newest times. Nil if those of the record are the newest.
  private let renewal: RecordRenewal?

  @_lifetime(copy bytes)
  init(_ header: Header, _ bytes: RawSpan, renewal: RecordRenewal? = nil) {
    self.header = header
    self.bytes = bytes
    self.renewal = renewal
  }

  /// The version of the user's schema, or zero if it is unreadable.
  var schemaVersion: UInt32 {
    switch header {
    case .value(let header): header.schemaVersion(of: bytes)
    case .packed(let header): header.schemaVersion(of: bytes)
    case .unreadable: 0
    }
  }

  /// The metadata, or nil if it is unreadable.
  var metadata: RecordMetadata? {
    var metadata: RecordMetadata
    switch header {
    case .value(let header): metadata = header.metadata(of: bytes)
    case .packed(let header): metadata = header.metadata(of: bytes)
    case .unreadable: return nil
    }
    renewal?.apply(to: &metadata)
    return metadata
  }

  /// The bytes of the value. Empty if they are unreadable.
  var value: RawSpan {
    @_lifetime(copy self)
    get {
      switch header {
      case .value(let header): bytes.extracting(header.value)
      case .packed(let header): bytes.extracting(header.value)
      case .unreadable: bytes.extracting(0..<0)
      }
    }
  }
}

extension DiskFile {
  /// Returns the key's record in the snapshot, or nil without one. Reads only the header and the key.
  @_lifetime(borrow transaction)
  func unverifiedRecord(
    forKey key: RawSpan, of generation: Generation, in transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> UnverifiedRecord? {
    switch layout {
    case .ordered:
      let diskKey = DiskKey(generation: generation, key: key)
      guard let record = try transaction.mainValue(forKey: diskKey) else { return nil }
      guard let header = RecordHeader(trusting: record) else {
        return diskKey.isDigest ? nil : UnverifiedRecord(.unreadable, record)
      }
      guard !diskKey.isDigest || record.extracting(header.key).hasSameBytes(as: key) else { return nil }
      let isLarge = header.value.count >= RecordRenewal.leastValueSize
      let renewal = isLarge ? try renewal(ofRecordAt: .key(diskKey), in: transaction) : nil
      return UnverifiedRecord(.value(header), record, renewal: renewal)
    case .dense(let tables):
      var isDamaged = false
      guard let found = try tables.record(forKey: key, of: generation, in: transaction, isDamaged: &isDamaged) else {
        return nil
      }
      let isLarge = found.header.value.count >= RecordRenewal.leastValueSize
      let renewal = isLarge ? try renewal(ofRecordAt: .address(found.address), in: transaction) : nil
      return UnverifiedRecord(.packed(found.header), found.bytes, renewal: renewal)
    }
  }
}
