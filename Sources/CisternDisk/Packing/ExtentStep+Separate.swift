import CisternCore
import LMDB

extension ExtentStep {
  /// Stores a record that is too large for an extent as a separate value. Returns its address.
  mutating func putSeparate(
    _ draft: RecordDraft, of partitionNumber: PartitionNumber,
    in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> RecordAddress {
    let room = PackedRecordFormat.room(for: draft.packedSize)
    let record = SeparateRecord(age: state.log.nextAge(), size: room)
    let number = state.separates.add(record)
    let address = RecordAddress(separate: number.number)
    var bytes = [UInt8](repeating: 0, count: room)
    var span = bytes.mutableSpan
    // Every pattern of bytes is valid.
    var packed = unsafe span.mutableBytes
    draft.pack(for: partitionNumber, at: address, into: &packed)
    try target.putSeparate(bytes.rawSpan, number)
    let key = ExtentRow.Key(number)
    try target.putRow(ExtentRow.separate(record).bytes(under: key), under: key)
    appendedSeparates.insert(number)
    state.experience.clearedPages = 0
    return address
  }

  /// Removes a separate record and its row. Has no effect if the file does not have it.
  mutating func removeSeparate(
    _ number: SeparateNumber, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    let size = state.separates.records[number]?.size ?? 0
    guard state.separates.remove(number) else { return }
    freedPages += context.limits.pages(ofSeparate: size)
    try target.removeSeparate(number)
    try target.putRow(nil, under: ExtentRow.Key(number))
    outcome.hasChanges = true
  }

  /// Evicts a separate record, or gives it a second chance if it was read: a new age, without a copy.
  mutating func evictSeparate(
    _ number: SeparateNumber, keepsUsed: Bool = true, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    let address = RecordAddress(separate: number.number)
    outcome.hasChanges = true
    guard let entry = try item(ofSeparate: address, in: target),
      try seek(entry.digest, address, of: entry.generation, in: &target)
    else {
      // No item refers to the value, or it is damaged. An item of a damaged value is removed when it is found.
      return try removeSeparate(number, in: &target)
    }
    let record = IndexedRecord(address: address, size: entry.size)
    let evicted = try evicted(address, of: entry.generation, in: target)
    // A record that must not be shown gets no second chance.
    if keepsUsed, evicted != nil, context.recency.isMarked(address.mark), state.experience.secondChances.take() {
      context.recency.clear(address.mark)
      state.separates.renew(number, age: state.log.nextAge())
      guard let renewed = state.separates.records[number] else { return }
      let key = ExtentRow.Key(number)
      try target.putRow(ExtentRow.separate(renewed).bytes(under: key), under: key)
      return
    }
    state.experience.secondChances.noteEviction()
    try drop(record, entry.digest, of: entry.generation, in: &target)
    if let evicted { outcome.evicted.append(evicted) }
  }

  private func item(
    ofSeparate address: RecordAddress, in target: borrowing some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> (digest: RecordDigest, generation: Generation, size: Int)? {
    let partitionNumbers = state.partitionNumbers
    return try withRecord(at: address, in: target) { record in
      guard let header = PackedHeader(trusting: record, at: address),
        let generation = partitionNumbers[header.partition]
      else {
        return nil
      }
      return (RecordDigest(of: record.extracting(header.key)), generation, header.size)
    } ?? nil
  }
}
