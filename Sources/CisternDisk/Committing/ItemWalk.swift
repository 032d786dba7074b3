import CisternCore
import LMDB

/// A walk over the items of a generation, in the order of their digests.
///
/// Records in extents have no order by their keys, so the walk examines all of them.
struct ItemWalk {
  let generation: Generation
  /// The digest of the next item. Nil if the walk has examined all records.
  private var position: RecordDigest? = .zero

  init(of generation: Generation) {
    self.generation = generation
  }

  /// Whether the walk has examined all records.
  var isDone: Bool { position == nil }

  /// Examines about `stride` records, and returns the digests of about `count` records that the set conceals.
  mutating func next(
    _ count: Int, of stride: Int, in file: DiskFile, concealedBy set: InvalidationSet<FileInvalidationVersion>
  ) throws(LMDBError) -> [RecordDigest] {
    guard let start = position, case .dense(let tables) = file.layout else { return [] }
    let key = IndexKey(generation.number)
    let (found, next) = try file.environment.withRead {
      (transaction) throws(LMDBError) -> ([RecordDigest], RecordDigest?) in
      var found: [RecordDigest] = []
      var seen = 0
      var last = start
      var cursor = try transaction.cursor(forKey: key, in: tables.index)
      var isAtItem = try cursor.move(toFirstFrom: start.bits)
      while isAtItem, let item = cursor.item, let address = RecordAddress(bits: item.address) {
        let digest = RecordDigest(lowBits: item.digest)
        // Items with equal digests have no order, so the walk cannot stop between them.
        if digest != last, seen >= stride || found.count >= count {
          guard digest > start else { throw .recordsOutOfOrder() }
          return (found, digest)
        }
        last = digest
        seen += 1
        if let record = try tables.bytes(at: address, in: transaction),
          let header = PackedHeader(trusting: record, at: address), set.conceals(record, header),
          found.last != digest
        {
          found.append(digest)
        }
        isAtItem = try cursor.moveToNext()
      }
      return (found, nil)
    }
    position = next
    return found
  }
}
