import CisternCore
import LMDB

/// A walk over those records under their keys that invalidations can conceal.
struct KeyWalk {
  /// The prefixes of the file keys that the walk has not finished. The last one is next.
  private var prefixes: [[UInt8]]
  /// The key to continue from within the last prefix; nil for the beginning of the prefix.
  private var position: [UInt8]?

  init(of generation: Generation, targets: some Sequence<Invalidation>) {
    let direct = DiskKey(startOf: generation).copiedBytes()
    // The file key of a long key holds only its digest, so the walk must examine every digested key.
    let digested = direct.dropLast() + [direct[direct.count - 1] | 1]
    prefixes = [Array(digested)]
    var ranges: [[UInt8]] = []
    for target in targets {
      switch target {
      case .tag:
        prefixes.append(direct)
        return
      case .prefix(let prefix) where prefix.count <= DiskKey.longestDirectKey: ranges.append(direct + prefix)
      case .prefix: break
      }
    }
    prefixes += ranges
  }

  /// Whether the walk has examined all records.
  var isDone: Bool { prefixes.isEmpty }

  /// Examines up to `stride` records, and returns the file keys of up to `count` records that the set conceals.
  mutating func next(
    _ count: Int, of stride: Int, in file: DiskFile, concealedBy set: InvalidationSet<FileInvalidationVersion>
  ) throws(LMDBError) -> [[UInt8]] {
    var walk = self
    defer { self = walk }
    let records = file.orderedTables.records
    return try file.environment.withRead { (transaction) throws(LMDBError) in
      var found: [[UInt8]] = []
      var seen = 0
      while let prefix = walk.prefixes.last, seen < stride, found.count < count {
        var cursor = try transaction.cursor(in: records)
        let start = walk.position ?? prefix
        var isAtRecord = try cursor.move(toFirstFrom: start.rawSpan)
        seen += 1
        let seenBefore = seen
        while true {
          guard isAtRecord, let key = cursor.key?.copiedBytes(), key.starts(with: prefix) else {
            walk.prefixes.removeLast()
            walk.position = nil
            break
          }
          guard seen < stride, found.count < count else {
            if seen > seenBefore, !start.rawSpan.precedes(key.rawSpan) { throw .recordsOutOfOrder() }
            walk.position = key
            break
          }
          seen += 1
          if KeyWalk.conceals(cursor, set) { found.append(key) }
          isAtRecord = try cursor.moveToNext()
        }
      }
      return found
    }
  }

  private static func conceals(
    _ cursor: borrowing Cursor<Database, CursorReads>, _ set: InvalidationSet<FileInvalidationVersion>
  ) -> Bool {
    guard let key = cursor.key, let record = cursor.value, let header = RecordHeader(trusting: record)
    else { return false }
    let invalidationVersion = header.invalidationVersion(of: record)
    guard invalidationVersion < set.newest else { return false }
    let isDigest = DiskKey.isDigest(key)
    let fullKey = isDigest ? record.extracting(header.key) : key.extracting(DiskKey.prefixSize..<key.byteCount)
    return set.conceals(invalidationVersion: invalidationVersion, key: fullKey, tags: header.metadata(of: record).tags)
  }
}
