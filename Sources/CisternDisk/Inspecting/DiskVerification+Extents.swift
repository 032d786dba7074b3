import CisternCore
import LMDB

// Records in extents, and the index of them.

extension DiskVerification {
  /// Verifies each item of the index, and the record that it refers to.
  mutating func readItems(in tables: DenseTables, _ transaction: borrowing ReadTransaction) throws(LMDBError) {
    let state = try ExtentState(reading: transaction, tables)
    var count = 0
    for generation in state.partitionNumbers.named.sorted() {
      countFromZero(generation)
      var cursor = try transaction.cursor(forKey: IndexKey(generation.number), in: tables.index)
      var isAtItem = try cursor.moveToFirst()
      while isAtItem, let item = cursor.item, let address = RecordAddress(bits: item.address) {
        try step()
        count += 1
        let located = LocatedDigest(digest: RecordDigest(lowBits: item.digest), address: address)
        try verify(located, of: generation, state, in: tables, transaction)
        isAtItem = try cursor.moveToNext()
      }
    }
    let others = try transaction.itemCount(in: tables.index) - count
    if others > 0 {
      result.add(
        .init(.strayRecord, description: "\(others) items of the index belong to a generation without a number"))
    }
  }

  private mutating func verify(
    _ item: LocatedDigest, of generation: Generation, _ state: ExtentState, in tables: DenseTables,
    _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) {
    result.recordCount += 1
    recount[generation, default: GenerationCounts()].records += 1
    guard let record = try tables.bytes(at: item.address, in: transaction),
      let header = PackedHeader(trusting: record, at: item.address)
    else {
      note(nil, at: .address(item.address))
      return find(nil, of: generation, "an item of the index\(place(of: generation)) refers to no record")
    }
    result.recordBytes = .bytes(result.recordBytes.bytes + header.size)
    recount[generation, default: GenerationCounts()].bytes += header.size
    let key = record.extracting(header.key)
    // A record with damage in its key has another digest.
    let isOwn = RecordDigest(of: key) == item.digest && state.partitionNumbers[header.partition] == generation
    let known = isOwn ? key.copiedBytes() : nil
    let name = known.map { "the record of \(String(reflecting: String(decoding: $0, as: UTF8.self)))" } ?? "a record"
    let isSound = header.isSound(record, at: item.address)
    note(isSound ? header.metadata(of: record) : nil, at: .address(item.address))
    guard isSound else {
      return find(known, of: generation, name + place(of: generation) + " has a wrong checksum")
    }
    if !isOwn {
      find(nil, of: generation, "an item of the index\(place(of: generation)) refers to the record of another key")
    } else if !contains(item.address, header.room, state, in: tables) {
      find(known, of: generation, name + place(of: generation) + " is not among the records of its extent")
    }
  }

  /// Returns whether the state of the file has a record of this size at the address.
  private func contains(_ address: RecordAddress, _ room: Int, _ state: ExtentState, in tables: DenseTables) -> Bool {
    switch address.location(in: tables.limits.layout) {
    case .inExtent(let number, let offset)?:
      guard let extent = state.log[number] else { return false }
      if case .free = extent.state { return false }
      return offset + room <= extent.end
    case .separate(let number)?: return state.separates.records[SeparateNumber(number: number)]?.size == room
    case nil: return false
    }
  }

  private func place(of generation: Generation) -> String {
    names[generation].map { " of cache \(String(reflecting: $0))" } ?? ""
  }

  private mutating func find(_ key: [UInt8]?, of generation: Generation, _ description: String) {
    result.add(.init(.damagedRecord, cache: names[generation], key: key, description: description))
  }
}
