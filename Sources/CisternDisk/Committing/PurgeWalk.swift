import CisternCore
import LMDB

/// A walk over the records of a partition that removes invalidated records in small steps, and then ends the
/// invalidations.
///
/// The walk begins after the commit of its invalidations. Every write that was staged before them is therefore in
/// the file. Every write that is staged after them is compared with them at staging.
///
/// A walk can continue from any key or digest. After a restart of the process, it begins again.
struct PurgeWalk {
  let partition: Partition
  let generation: Generation
  /// The invalidations that are left to end, with their versions at the beginning of the walk. A newer version of one
  /// stays in force.
  private(set) var targets: [Invalidation: FileInvalidationVersion]
  let set: InvalidationSet<FileInvalidationVersion>
  /// The progress of the walk, by the layout of the file.
  private var progress: Progress

  private enum Progress {
    case keys(KeyWalk)
    case items(ItemWalk)
    case end
  }

  /// The records that the walk has found.
  struct Found {
    /// The keys in an ordered file.
    var keys: [[UInt8]] = []
    /// The digests of records in a dense file.
    var digests: [RecordDigest] = []

    var isEmpty: Bool { keys.isEmpty && digests.isEmpty }
  }

  /// The maximum number of records that one call examines.
  private static let stride = 1024

  init(
    of partition: Partition, _ generation: Generation, in layout: DiskLayout,
    targets: [Invalidation: FileInvalidationVersion]
  ) {
    self.partition = partition
    self.generation = generation
    self.targets = targets
    set = targets.reduce(into: InvalidationSet()) { $0.add($1.key, invalidationVersion: $1.value) }
    switch layout {
    case _ where generation == .zero: progress = .end
    case .ordered: progress = .keys(KeyWalk(of: generation, targets: targets.keys))
    case .dense: progress = .items(ItemWalk(of: generation))
    }
  }

  /// Whether the walk has examined all records.
  var isDone: Bool {
    if case .end = progress { true } else { false }
  }

  /// Removes up to `count` targets, and returns them.
  mutating func takeTargets(upTo count: Int) -> [Invalidation: FileInvalidationVersion] {
    var taken: [Invalidation: FileInvalidationVersion] = [:]
    if count >= targets.count {
      swap(&taken, &targets)
      return taken
    }
    while taken.count < count, let (invalidation, version) = targets.popFirst() { taken[invalidation] = version }
    return taken
  }

  /// Returns targets in small parts.
  ///
  /// The invalidation table holds its lock while it processes one part. A concurrent invalidation waits for this
  /// lock while it holds the locks of all shards of a cache, so a part must be small.
  static func parts(
    of targets: [Invalidation: FileInvalidationVersion]
  ) -> [[Invalidation: FileInvalidationVersion]] {
    var parts: [[Invalidation: FileInvalidationVersion]] = []
    for (index, target) in targets.enumerated() {
      if index % partSize == 0 { parts.append([:]) }
      parts[parts.count - 1][target.key] = target.value
    }
    return parts
  }

  /// The maximum number of targets in one part.
  static let partSize = 128

  /// Examines about `stride` of the next records, and returns up to about `count` of them to remove.
  mutating func next(_ count: Int, of stride: Int = stride, in file: DiskFile) throws(LMDBError) -> Found {
    var found = Found()
    switch progress {
    case .keys(var walk):
      found.keys = try walk.next(count, of: stride, in: file, concealedBy: set)
      progress = walk.isDone ? .end : .keys(walk)
    case .items(var walk):
      found.digests = try walk.next(count, of: stride, in: file, concealedBy: set)
      progress = walk.isDone ? .end : .items(walk)
    case .end: break
    }
    return found
  }
}
