import CisternCore
import LMDB

extension DenseTables {
  /// A record of a key.
  struct PackedRecord: ~Escapable {
    let header: PackedHeader
    let address: RecordAddress
    /// The bytes from the record's first one on.
    let bytes: RawSpan

    @_lifetime(copy bytes)
    @inline(__always)
    fileprivate init(_ header: PackedHeader, at address: RecordAddress, _ bytes: RawSpan) {
      self.header = header
      self.address = address
      self.bytes = bytes
    }

    /// Whether the checksum is right.
    @inline(__always)
    var isSound: Bool { header.isSound(bytes, at: address) }
  }

  /// The record that a search has found. The bytes are valid in the snapshot in which it searches.
  @unsafe
  private struct Match {
    let header: PackedHeader
    let bytes: UnsafeRawBufferPointer
  }

  /// Returns the key's record, or nil without one. Does not verify the checksum of the record.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - generation: The generation of its partition.
  ///   - transaction: The snapshot.
  ///   - isDamaged: Set to true if the key has no record, but a damaged one has its digest.
  /// - Returns: The record; nil for none.
  /// - Throws: `LMDBError` if LMDB fails.
  @inline(__always)
  @_lifetime(borrow transaction)
  func record(
    forKey key: RawSpan, of generation: Generation, in transaction: borrowing ReadTransaction, isDamaged: inout Bool
  ) throws(LMDBError) -> PackedRecord? {
    var match: Match?
    var hasDamage = false
    let digest = RecordDigest(of: key)
    let bits = try transaction.firstAddress(
      of: digest.bits, forKey: IndexKey(generation.number), in: index
    ) { (bits) throws(LMDBError) in
      guard let address = RecordAddress(bits: bits), let record = try bytes(at: address, in: transaction) else {
        hasDamage = true
        return false
      }
      record.prefetchRecord()
      guard let header = PackedHeader(trusting: record, at: address) else {
        hasDamage = true
        return false
      }
      record.prefetchRest(of: header.room)
      if record.extracting(header.key).hasSameBytes(as: key) {
        unsafe match = unsafe record.withUnsafeBytes { unsafe Match(header: header, bytes: $0) }
        return true
      }
      // The digests of different keys seldom are equal, so this can be a record of the key with damage in its key.
      if !header.isSound(record, at: address) { hasDamage = true }
      return false
    }
    guard let match = unsafe match, let bits, let address = RecordAddress(bits: bits) else {
      isDamaged = hasDamage
      return nil
    }
    // The transaction keeps the bytes, and the result cannot outlive it.
    let found = unsafe PackedRecord(match.header, at: address, RawSpan(_unsafeBytes: match.bytes))
    return unsafe _overrideLifetime(found, borrowing: transaction)
  }

  /// Returns the bytes from a record's address on, or nil if the file does not have the address.
  @inline(__always)
  @_lifetime(borrow transaction)
  func bytes(
    at address: RecordAddress, in transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> RawSpan? {
    switch address.location(in: limits.layout) {
    case .inExtent(let number, let offset)?:
      return try transaction.bytes(
        ofValueForKey: UInt(number.number), from: offset &- ExtentLayout.headerSize, at: places)
    case .separate(let number)?:
      return try transaction.value(
        forKey: UInt(ExtentRow.Key(SeparateNumber(number: number)).number), in: extents)
    case nil: return nil
    }
  }
}

extension RawSpan {
  private static var firstLines: Int { 3 }

  /// Begins to load the first lines of a record, whose size is not known yet.
  @inline(__always)
  fileprivate func prefetchRecord() {
    for line in 0..<Self.firstLines { prefetchLine(at: line * 64) }
  }

  /// Begins to load the further lines of a record of this size. Its checksum loads those behind ``prefetchedSize``.
  @inline(__always)
  fileprivate func prefetchRest(of size: Int) {
    var offset = Self.firstLines * 64
    let end = min(size, Self.prefetchedSize)
    while offset < end {
      prefetchLine(at: offset)
      offset &+= 64
    }
  }
}
