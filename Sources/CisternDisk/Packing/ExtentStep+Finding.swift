import CisternCore
import LMDB

extension ExtentStep {
  /// The record at an item, compared with a key.
  private enum Match {
    /// The record of the key.
    case key(size: Int)
    /// A sound record of another key with the same digest.
    case other
    /// No record of the generation, or a damaged one.
    case invalid
  }

  /// Finds the key's record among those with its digest, and moves the index to it. Returns nil if the key has none.
  ///
  /// Removes items with the digest whose records are damaged or of another generation.
  mutating func find(
    _ key: RawSpan, _ digest: RecordDigest, of generation: Generation,
    in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> IndexedRecord? {
    guard let partitionNumber = state.partitionNumbers.number(of: generation) else { return nil }
    var item = try target.move(toFirstFrom: digest, of: generation)
    while let current = item, current.digest == digest {
      switch try match(current.address, key, partitionNumber, in: target) {
      case .key(let size): return IndexedRecord(address: current.address, size: size)
      case .other: break
      case .invalid: try dropInvalid(current, of: generation, in: &target)
      }
      item = try target.moveToNext()
    }
    return nil
  }

  /// Compares the record at an address with a key. Reads the whole record only if the keys differ.
  private func match(
    _ address: RecordAddress, _ key: RawSpan, _ partitionNumber: PartitionNumber,
    in target: borrowing some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Match {
    try withRecord(at: address, in: target) { record in
      guard let header = PackedHeader(trusting: record, at: address), header.partition == partitionNumber else {
        return .invalid
      }
      if record.extracting(header.key).hasSameBytes(as: key) { return .key(size: header.size) }
      return header.isSound(record, at: address) ? .other : .invalid
    } ?? .invalid
  }

  /// Removes the item at the position, which leads to no sound record.
  ///
  /// The live bytes of its extent stay too large until the extent is reclaimed, because the size is not known.
  private mutating func dropInvalid(
    _ item: LocatedDigest, of generation: Generation, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    try target.removeCurrent()
    try removeRenewal(of: IndexedRecord(address: item.address, size: 0), in: &target)
    if case .separate(let number)? = item.address.location(in: layout) {
      try removeSeparate(SeparateNumber(number: number), in: &target)
    }
    change(generation, records: -1, bytes: 0)
    touched.note(item.digest, of: generation)
    outcome.invalidItems += 1
    outcome.hasChanges = true
  }

  /// Moves the index to the item of a record. Returns false if the index does not refer to the record.
  mutating func seek(
    _ digest: RecordDigest, _ address: RecordAddress, of generation: Generation,
    in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    var item = try target.move(toFirstFrom: digest, of: generation)
    while let current = item, current.digest == digest {
      if current.address == address { return true }
      item = try target.moveToNext()
    }
    return false
  }

  /// Calls `body` with the bytes from a record's address on. Returns nil if the file does not have the address.
  func withRecord<Result>(
    at address: RecordAddress, in target: borrowing some ExtentTarget & ~Copyable & ~Escapable,
    _ body: (RawSpan) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result? {
    if case .separate(let number)? = address.location(in: layout) {
      return try target.withBytes(ofSeparate: SeparateNumber(number: number), body)
    }
    return try writer.withBytes(at: address, in: target, body)
  }

  /// Removes the record whose item is at the position.
  mutating func drop(
    _ record: IndexedRecord, _ digest: RecordDigest, of generation: Generation,
    in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    try target.removeCurrent()
    try discard(record, in: &target)
    change(generation, records: -1, bytes: -record.size)
    touched.note(digest, of: generation)
    outcome.hasChanges = true
  }

  /// Subtracts a record to which no item refers any more from its extent, or removes its separate value.
  mutating func discard(
    _ record: IndexedRecord, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    try removeRenewal(of: record, in: &target)
    if case .separate(let number)? = record.address.location(in: layout) {
      try removeSeparate(SeparateNumber(number: number), in: &target)
    } else {
      state.log.remove(record.size, at: record.address)
    }
  }
}
