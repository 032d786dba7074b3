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

  @_lifetime(copy bytes)
  init(_ header: Header, _ bytes: RawSpan) {
    self.header = header
    self.bytes = bytes
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
    switch header {
    case .value(let header): header.metadata(of: bytes)
    case .packed(let header): header.metadata(of: bytes)
    case .unreadable: nil
    }
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
    case .records:
      let diskKey = DiskKey(generation: generation, key: key)
      guard let record = try transaction.mainValue(forKey: diskKey) else { return nil }
      guard let header = RecordHeader(trusting: record) else {
        return diskKey.isDigest ? nil : UnverifiedRecord(.unreadable, record)
      }
      guard !diskKey.isDigest || record.extracting(header.key).hasSameBytes(as: key) else { return nil }
      return UnverifiedRecord(.value(header), record)
    case .extents(let tables):
      var isDamaged = false
      guard let found = try tables.record(forKey: key, of: generation, in: transaction, isDamaged: &isDamaged) else {
        return nil
      }
      return UnverifiedRecord(.packed(found.header), found.bytes)
    }
  }
}
