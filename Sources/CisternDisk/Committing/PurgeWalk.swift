import CisternCore
import LMDB

/// A walk over the records of a partition that removes invalidated records in small steps, and then ends the
/// invalidations.
///
/// The walk begins after the commit of its invalidations. Every write that was staged before them is therefore in
/// the file. Every write that is staged after them is compared with them at staging.
///
/// A walk can continue from any key. After a restart of the process, it begins again.
struct PurgeWalk {
  let partition: Partition
  let generation: Generation
  /// The invalidations that the walk ends, with their versions at its beginning. A newer version of one stays in
  /// force.
  let targets: [Invalidation: FileInvalidationVersion]
  let set: InvalidationSet<FileInvalidationVersion>
  /// The prefixes of the file keys that the walk has not finished. The last one is next.
  private var prefixes: [[UInt8]] = []
  /// The key to continue from within the last prefix; nil for the beginning of the prefix.
  private var position: [UInt8]?

  /// The maximum number of records that one call examines.
  private static let stride = 1024

  init(partition: Partition, generation: Generation, targets: [Invalidation: FileInvalidationVersion]) {
    self.partition = partition
    self.generation = generation
    self.targets = targets
    set = targets.reduce(into: InvalidationSet()) { $0.add($1.key, invalidationVersion: $1.value) }
    guard generation != .zero else { return }
    let direct = DiskKey(startOf: generation).copiedBytes()
    // The file key of a long key holds only its digest, so the walk must examine every digested key.
    let digested = direct.dropLast() + [direct[direct.count - 1] | 1]
    prefixes = [Array(digested)]
    var ranges: [[UInt8]] = []
    for target in targets.keys {
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

  /// The targets in small parts.
  ///
  /// The invalidation table holds its lock while it processes one part. A concurrent invalidation waits for this
  /// lock while it holds the locks of all shards of a cache, so a part must be small.
  var targetParts: [[Invalidation: FileInvalidationVersion]] {
    var parts: [[Invalidation: FileInvalidationVersion]] = []
    for (place, target) in targets.enumerated() {
      if place % PurgeWalk.partSize == 0 { parts.append([:]) }
      parts[parts.count - 1][target.key] = target.value
    }
    return parts
  }

  /// The number of targets in one part.
  static let partSize = 128

  /// Examines the next records, and returns the file keys of up to `count` records to remove.
  mutating func next(_ count: Int, in file: DiskFile) throws(LMDBError) -> [[UInt8]] {
    var walk = self
    defer { self = walk }
    return try file.environment.withRead { (transaction) throws(LMDBError) in
      var found: [[UInt8]] = []
      var seen = 0
      while let prefix = walk.prefixes.last, seen < PurgeWalk.stride, found.count < count {
        var cursor = try transaction.cursor(in: file.recordTables.records)
        let start = walk.position ?? prefix
        var isAtRecord = try cursor.move(toFirstFrom: start.rawSpan)
        seen += 1
        while true {
          guard isAtRecord, let key = cursor.key?.copiedBytes(), key.starts(with: prefix) else {
            walk.prefixes.removeLast()
            walk.position = nil
            break
          }
          guard seen < PurgeWalk.stride, found.count < count else {
            walk.position = key
            break
          }
          seen += 1
          if walk.conceals(cursor) { found.append(key) }
          isAtRecord = try cursor.moveToNext()
        }
      }
      return found
    }
  }

  private func conceals(_ cursor: borrowing Cursor<Database, CursorReads>) -> Bool {
    guard let key = cursor.key, let record = cursor.value, let header = RecordHeader(trusting: record)
    else { return false }
    let invalidationVersion = header.invalidationVersion(of: record)
    guard invalidationVersion < set.newest else { return false }
    let isDigest = DiskKey.isDigest(key)
    let fullKey = isDigest ? record.extracting(header.key) : key.extracting(DiskKey.prefixSize..<key.byteCount)
    return set.conceals(invalidationVersion: invalidationVersion, key: fullKey, tags: header.metadata(of: record).tags)
  }
}
