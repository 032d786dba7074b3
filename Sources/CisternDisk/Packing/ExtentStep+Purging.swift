import CisternCore
import LMDB

extension ExtentStep {
  /// Returns the description of an evicted record, or nil if an invalidation in force covers the record.
  mutating func evicted(
    _ address: RecordAddress, of generation: Generation,
    in target: borrowing some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> EvictedRecord? {
    let position = position
    guard try liveCounts(generation, in: target) != nil, !(try isConcealed(address, of: generation, in: target)) else {
      return nil
    }
    return try withRecord(at: address, in: target) { record in
      guard let header = PackedHeader(trusting: record, at: address) else { return nil }
      let metadata = header.metadata(of: record)
      return EvictedRecord(
        generation: generation, key: record.extracting(header.key).copiedBytes(), tags: metadata.tags,
        schemaVersion: metadata.schemaVersion, position: position)
    } ?? nil
  }

  /// Returns whether an invalidation in force covers the record.
  func isConcealed(
    _ address: RecordAddress, of generation: Generation,
    in target: borrowing some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    guard let table = context.invalidated[generation], !table.isEmpty else { return false }
    return try withRecord(at: address, in: target) { record in
      guard let header = PackedHeader(trusting: record, at: address) else { return false }
      return table.concealsInTransaction(header.metadata(of: record), key: record.extracting(header.key))
    } ?? false
  }

  /// Removes up to `count` records of a dead generation.
  ///
  /// Returns their number, and whether the generation is empty. The method then removes its rows, and its number can
  /// name another one.
  mutating func purge(
    _ generation: Generation, upTo count: Int, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> (count: Int, isDone: Bool) {
    counts[generation] = .some(nil)
    var item = try target.move(toFirstFrom: .zero, of: generation)
    for removed in 0..<count {
      guard let current = item else {
        try target.endGeneration(generation, named: state.partitionNumbers.number(of: generation))
        state.partitionNumbers.remove(generation)
        outcome.hasChanges = true
        return (removed, true)
      }
      let address = current.address
      let size = try withRecord(at: address, in: target) { PackedHeader(trusting: $0, at: address)?.size } ?? nil
      try drop(IndexedRecord(address: address, size: size ?? 0), current.digest, of: generation, in: &target)
      item = try target.moveToNext()
    }
    return (count, false)
  }

  /// Removes the records with these digests that the set conceals. Their removal is not reported as a loss.
  ///
  /// Another process can have moved a record since the walk saw it. The walk does not return to its digest, so the
  /// records are found again at any address.
  mutating func purge(
    _ digests: [RecordDigest], of generation: Generation, concealedBy set: InvalidationSet<FileInvalidationVersion>,
    in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    _ = try liveCounts(generation, in: target)
    for digest in digests {
      var item = try target.move(toFirstFrom: digest, of: generation)
      while let current = item, current.digest == digest {
        let address = current.address
        let size =
          try withRecord(at: address, in: target) { record in
            // Damage does not keep a record: after the end of the invalidations, an enumeration would find it.
            PackedHeader(trusting: record, at: address).flatMap { set.conceals(record, $0) ? $0.size : nil }
          } ?? nil
        if let size { try drop(IndexedRecord(address: address, size: size), digest, of: generation, in: &target) }
        item = try target.moveToNext()
      }
    }
  }
}
