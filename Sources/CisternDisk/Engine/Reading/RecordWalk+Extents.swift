import CisternCore
import LMDB

// Enumerations of records in extents. The order is that of the digests of keys, because the file has no other one.

extension RecordWalk {
  /// Reads the next records of the range. The records of one digest are never in two chunks.
  ///
  /// A record keeps its digest when it moves. A digest is therefore a position that stays valid.
  mutating func read(
    _ tables: DenseTables, of file: DiskFile, generation: Generation, in transaction: borrowing ReadTransaction
  ) throws(LMDBError) {
    var cursor = try transaction.cursor(forKey: IndexKey(generation.number), in: tables.index)
    var isAtItem =
      if let visited = range.start?.recordDigest {
        try cursor.move(toFirstAfter: visited.bits)
      } else {
        try cursor.moveToFirst()
      }
    var count = 0
    var last = range.start?.recordDigest ?? .zero
    // The addresses of the last digest.
    var addresses: [UInt64] = []
    chunk.reserveCapacity(min(range.limit, 1024))
    while isAtItem, let item = cursor.item {
      let digest = RecordDigest(lowBits: item.digest)
      // In a damaged file, the order of the items can be wrong. An enumeration would then be endless.
      guard digest >= last else { throw .recordsOutOfOrder() }
      if count >= range.limit, digest != last {
        return try endChunk(behind: last)
      }
      // In a damaged file, an item can come twice. Two items of a sound one never have the same address.
      if digest != last { addresses.removeAll(keepingCapacity: true) }
      guard !addresses.contains(item.address) else { throw .recordsOutOfOrder("a record comes twice") }
      addresses.append(item.address)
      if let address = RecordAddress(bits: item.address) {
        try add(LocatedDigest(digest: digest, address: address), tables, of: file, in: transaction)
        if isOutdated {
          // Otherwise, frequent invalidations could prevent an enumeration from ever reading a whole chunk.
          if count > 0, digest != last { try endChunk(behind: last) }
          return
        }
      }
      count += 1
      last = digest
      isAtItem = try cursor.moveToNext()
    }
  }

  /// Ends the chunk behind a digest, whose records are all visited.
  ///
  /// In a damaged file, the search can find the start of the range again. An enumeration would then be endless.
  private mutating func endChunk(behind digest: RecordDigest) throws(LMDBError) {
    if let start = range.start?.recordDigest, digest <= start { throw .recordsOutOfOrder() }
    chunk.end = KeyPosition(digest)
    isOutdated = false
  }

  private mutating func add(
    _ item: LocatedDigest, _ tables: DenseTables, of file: DiskFile, in transaction: borrowing ReadTransaction
  ) throws(LMDBError) {
    guard let record = try tables.bytes(at: item.address, in: transaction),
      let header = PackedHeader(trusting: record, at: item.address)
    else { return }
    let key = record.extracting(header.key)
    // A damaged key could appear a second time, under its own digest.
    guard key.starts(with: range.prefix), RecordDigest(of: key) == item.digest else { return }
    let digest = item.digest.bytes
    var metadata = header.metadata(of: record)
    try file.renew(&metadata, valueSize: header.value.count, at: .address(item.address), in: transaction)
    add(metadata, key: key, digest: digest.rawSpan)
  }
}
