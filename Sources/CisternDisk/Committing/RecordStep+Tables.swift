import CisternCore
import LMDB

/// A record in the file, as far as a write needs it.
enum PresentRecord {
  /// A record with a correct checksum. `digestedKey` is the whole key if the file key is its digest.
  case record(sequence: SequenceNumber, size: Int, digestedKey: [UInt8]?)
  /// A record with a wrong checksum.
  case damaged(size: Int)
}

extension RecordStep {
  /// Returns the record under the key, or nil if the file has none. Reads the whole record to check its checksum.
  func present(
    under key: borrowing DiskKey, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> PresentRecord? {
    guard let record = try transaction.value(forKey: key, in: tables.records) else { return nil }
    guard let header = RecordHeader(record, under: key) else { return .damaged(size: record.byteCount) }
    return .record(
      sequence: header.sequence, size: record.byteCount,
      digestedKey: key.isDigest ? record.extracting(header.key).copiedBytes() : nil)
  }

  /// Returns the record under a key that is about to be replaced or removed, or nil if the file has none.
  ///
  /// Unlike ``present(under:in:)``, the method does not read a record of several pages for its checksum. It trusts
  /// the sequence number if the order has an entry for it with the same key. The rest of the record is not needed.
  func removable(
    under key: borrowing DiskKey, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> PresentRecord? {
    if !key.isDigest, let size = try transaction.value(forKey: key, in: tables.records)?.byteCount,
      DiskLimits.overflowPages(size) > 0, let sequence = try trustedSequence(under: key, in: transaction)
    {
      return .record(sequence: sequence, size: size, digestedKey: nil)
    }
    return try present(under: key, in: transaction)
  }

  /// Returns the first entry of the order, or nil if the order is empty. Its key is nil if the entry's value is not
  /// a key.
  func oldest(in transaction: inout WriteTransaction) throws(LMDBError) -> (sequence: SequenceNumber, key: DiskKey?)? {
    var cursor = try transaction.cursor(in: tables.order)
    guard try cursor.moveToFirst(), let sequence = cursor.key, let value = cursor.value else { return nil }
    return (SequenceNumber(orderKey: sequence), DiskKey(value))
  }

  /// Returns the first record key from `start` on, or nil if no record follows.
  func first(from start: borrowing DiskKey, in transaction: inout WriteTransaction) throws(LMDBError) -> DiskKey? {
    var cursor = try transaction.cursor(in: tables.records)
    let start = start.copiedBytes()
    guard try cursor.move(toFirstFrom: start.rawSpan), let key = cursor.key else { return nil }
    // The key is the name of a table. These names sort after all records.
    if key.byteCount < DiskKey.prefixSize { return nil }
    guard let key = DiskKey(key) else {
      throw LMDBError(.corrupted, operation: "read a key", message: "a record key has an invalid format")
    }
    return key
  }

  /// Appends the key to the order with a new sequence number, and returns the number. The record is not marked as
  /// read.
  mutating func appendOrder(
    _ key: borrowing DiskKey, in transaction: inout WriteTransaction
  ) throws(LMDBError) -> SequenceNumber {
    lastSequence = lastSequence.next()
    recency.clear(lastSequence)
    let bytes = key.copiedBytes()
    _ = try transaction.put(bytes.rawSpan, forKey: lastSequence.orderKey, in: tables.order, mode: .append)
    return lastSequence
  }

  /// Removes the order's entry of a damaged record, if the record's sequence number still refers to it.
  mutating func removeOrder(
    under key: borrowing DiskKey, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    let sequence = try trustedSequence(under: key, in: transaction)
    if let sequence { _ = try transaction.removeValue(forKey: sequence.orderKey, in: tables.order) }
  }

  /// Returns the record's sequence number if the order's entry for it has the same key. Does not check the
  /// checksum.
  private func trustedSequence(
    under key: borrowing DiskKey, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> SequenceNumber? {
    guard let record = try transaction.value(forKey: key, in: tables.records),
      let header = RecordHeader(trusting: record)
    else { return nil }
    guard let entry = try transaction.value(forKey: header.sequence.orderKey, in: tables.order),
      key.withBytes({ entry.hasSameBytes(as: $0) })
    else { return nil }
    return header.sequence
  }

  /// Removes the record and its entry in the order, and updates the counts of its generation.
  mutating func drop(
    _ key: borrowing DiskKey, sequence: SequenceNumber?, size: Int, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    if let sequence { _ = try transaction.removeValue(forKey: sequence.orderKey, in: tables.order) }
    try removeRenewal(ofSize: size, under: copy key, in: &transaction)
    let bytes = key.copiedBytes()
    _ = try transaction.removeValue(forKey: bytes.rawSpan, in: tables.records)
    if try liveCounts(key.generation, in: transaction) != nil {
      change(key.generation, records: -1, bytes: -(size + key.count))
    }
    outcome.hasChanges = true
    outcome.touchedPages += 1
  }

  /// Removes a record that may be damaged, and its entry in the order if one refers to it.
  mutating func dropUnverified(
    _ key: borrowing DiskKey, size: Int, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    try removeOrder(under: key, in: &transaction)
    try drop(key, sequence: nil, size: size, in: &transaction)
  }

  /// Removes an entry of the order that does not refer to a sound record with the same sequence number.
  ///
  /// If the entry refers to a damaged record, the method evicts that record.
  mutating func evictDangling(
    _ sequence: SequenceNumber, _ key: DiskKey?, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    _ = try transaction.removeValue(forKey: sequence.orderKey, in: tables.order)
    outcome.hasChanges = true
    guard let key, case .damaged(let size) = try present(under: key, in: transaction) else { return }
    if try liveCounts(key.generation, in: transaction) != nil,
      let evicted = try evicted(key, in: transaction)
    {
      outcome.evicted.append(evicted)
    }
    try drop(key, sequence: nil, size: size, in: &transaction)
  }

  /// Moves the record to the end of the order, with a new sequence number.
  mutating func moveToTail(
    _ key: borrowing DiskKey, from sequence: SequenceNumber, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    guard let copy = try transaction.value(forKey: key, in: tables.records)?.copiedBytes() else { return }
    _ = try transaction.removeValue(forKey: sequence.orderKey, in: tables.order)
    let number = try appendOrder(key, in: &transaction)
    let bytes = key.copiedBytes()
    var target = try transaction.reserve(byteCount: copy.count, forKey: bytes.rawSpan, in: tables.records)
    target.copy(copy.rawSpan, to: 0)
    RecordFormat.renumber(&target, sequence: number, under: key)
    outcome.hasChanges = true
  }

  /// Returns the counts of the generation, or nil if the generation is dead.
  mutating func liveCounts(
    _ generation: Generation, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> GenerationCounts? {
    if let known = counts[generation] { return known }
    let read = try transaction.counts(of: generation, in: meta)
    counts[generation] = .some(read)
    notedCounts[generation] = read
    return read
  }

  /// Adds to the counts of a live generation. The generation's counts must have been read with `liveCounts(_:in:)`.
  mutating func change(_ generation: Generation, records: Int, bytes: Int) {
    guard var current = counts[generation] ?? nil else { return }
    current.records += records
    current.bytes += bytes
    counts[generation] = current
  }
}
