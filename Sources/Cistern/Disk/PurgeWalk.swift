import LMDB

/// A walk over a partition's records that ends invalidations, a little at a time: what they conceal is removed, and when
/// it has seen everything they are over.
///
/// It begins after the commit that the invalidations were in, so that whatever was staged before them is in the file; what
/// is staged after them is compared with them then. It can go on from any key, and begins anew after a restart.
struct PurgeWalk {
  let partition: Partition
  let generation: UInt64
  /// What it ends, by the numbers that they had when it began; newer ones of the same go on.
  let targets: [Invalidation: UInt64]
  let set: InvalidationSet
  /// What the keys in the file begin with that are still to be seen, the next one last.
  private var prefixes: [[UInt8]] = []
  /// The key to go on from, inside the last of them; nil for its beginning.
  private var position: [UInt8]?

  /// Records that are looked at in one go, at most.
  private static let stride = 1024

  init(partition: Partition, generation: UInt64, targets: [Invalidation: UInt64]) {
    self.partition = partition
    self.generation = generation
    self.targets = targets
    set = targets.reduce(into: InvalidationSet()) { $0.add($1.key, era: $1.value) }
    guard generation != 0 else { return }
    let direct = DiskKey(startOf: generation).copiedBytes()
    // Of a long key the file's has only the digest: all of these have to be looked at.
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

  var isDone: Bool { prefixes.isEmpty }

  /// The targets, a few at a time. The table's lock is held for one part: an invalidation waits for it inside the locks of all shards
  /// of a cache.
  var targetParts: [[Invalidation: UInt64]] {
    var parts: [[Invalidation: UInt64]] = []
    for (place, target) in targets.enumerated() {
      if place % PurgeWalk.partSize == 0 { parts.append([:]) }
      parts[parts.count - 1][target.key] = target.value
    }
    return parts
  }

  static let partSize = 128

  /// Looks at the next records, and answers the keys of up to `count` that are to be removed.
  mutating func next(_ count: Int, in file: DiskFile) throws(LMDBError) -> [[UInt8]] {
    var walk = self
    defer { self = walk }
    return try file.environment.withRead { (transaction) throws(LMDBError) in
      var found: [[UInt8]] = []
      var seen = 0
      while let prefix = walk.prefixes.last, seen < PurgeWalk.stride, found.count < count {
        var cursor = try transaction.cursor(in: file.records)
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
    let era = header.era(of: record)
    guard era < set.newest else { return false }
    let isDigest = DiskKey.isDigest(key)
    let fullKey = isDigest ? record.extracting(header.key) : key.extracting(DiskKey.prefixSize..<key.byteCount)
    return set.conceals(era: era, key: fullKey, tags: header.metadata(of: record).tags)
  }
}

extension Writer {
  /// Goes on with the walk that is under way, or begins one. Readers are not held up, and writers of other processes only
  /// while something is removed.
  func purgeSomeInvalidated() throws(LMDBError) {
    guard let file = engine.file else { return }
    if walk == nil { walk = try nextWalk(in: file) }
    guard var walk else { return }
    let keys = try walk.next(max(1, engine.limits.pagesPerTransaction / 4), in: file)
    if !keys.isEmpty {
      try chore(in: file) { (step, transaction) throws(LMDBError) in
        try step.purge(keys, concealedBy: walk.set, in: &transaction)
      }
    }
    guard walk.isDone else {
      self.walk = walk
      return
    }
    self.walk = nil
    let ended = try chore(in: file) { (step, transaction) throws(LMDBError) -> (row: EraRow, number: UInt)? in
      // Everything was removed, and more has been written, since the walk began: then there are others to see.
      guard try step.generation(of: walk.partition, creating: false, in: &transaction) == walk.generation else {
        return nil
      }
      let kept = engine.limits.endedInvalidations
      return (
        try step.end(walk.targets, of: walk.partition, keeping: kept, in: &transaction), transaction.number
      )
    }
    guard let ended else { return }
    for part in walk.targetParts {
      walk.partition.invalidations.purged(part, row: ended.row, transaction: ended.number)
    }
  }

  private func nextWalk(in file: DiskFile) throws(LMDBError) -> PurgeWalk? {
    for partition in engine.partitions {
      let targets = partition.invalidations.purgeable
      guard !targets.isEmpty else { continue }
      // The file's, not what is read: a removal of all may be staged, and not outlive a crash.
      let generation = try file.environment.withRead { (transaction) throws(LMDBError) in
        try transaction.number(forKey: MetaTable.partition(partition.name), in: file.meta) ?? 0
      }
      return PurgeWalk(partition: partition, generation: generation, targets: targets)
    }
    return nil
  }
}

extension DiskEngine {
  /// The newest invalidation of each partition.
  var invalidationEras: [ObjectIdentifier: UInt64] {
    partitions.reduce(into: [:]) { $0[ObjectIdentifier($1)] = $1.invalidations.era }
  }

  /// The invalidations that are in force, by the generation of their partition.
  var invalidatedGenerations: [UInt64: InvalidationTable] {
    var tables: [UInt64: InvalidationTable] = [:]
    for partition in partitions where !partition.invalidations.isEmpty {
      let generation = partition.generation
      if generation != 0 { tables[generation] = partition.invalidations }
    }
    return tables
  }
}
