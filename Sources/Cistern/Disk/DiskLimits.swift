/// What follows from a limit: the size of the map, how full it may get, and how much one transaction may touch.
///
/// LMDB copies each page that it changes, and uses the old ones again only two commits later. So a part of the map
/// stays free, a multiple of what one transaction can touch.
struct DiskLimits: Sendable, Equatable {
  /// The least limit that a store works with.
  static let minimum = ByteCount.kibibytes(256)
  /// What the directory's other files take up: LMDB's table of readers, and the mark.
  static let sideFiles = 48 << 10
  static let pageSize = 4096
  /// The reader slots of LMDB's table, for all processes.
  static let readers = 512

  /// The limit on the directory, as it was asked for.
  let limit: Int
  /// The size of the map: the most that the data file can be.
  let mapSize: Int

  /// Throws where the limit is too small to work with.
  init(_ limit: ByteCount, location: String) throws(CisternError) {
    guard limit >= DiskLimits.minimum else {
      throw CisternError(
        .invalidArgument,
        "the disk limit must be \(DiskLimits.minimum) (\(DiskLimits.minimum.bytes) bytes) or more; it is \(limit.bytes) bytes",
        location: location)
    }
    // A map beyond 2⁴⁶ bytes has no room in the address space of today's machines.
    self.limit = min(limit.bytes, 1 << 46)
    let room = self.limit - DiskLimits.sideFiles
    mapSize = room - room % DiskLimits.pageSize
  }

  /// The map's pages.
  var pageCount: Int { mapSize / DiskLimits.pageSize }
  /// The pages that one transaction should touch at most.
  var pagesPerTransaction: Int { min(max(pageCount / 48, 6), 8192) }
  /// What the last three transactions, and the one to come, may hold beside what is live: besides the pages that they are
  /// meant to touch, each copies roots, LMDB's own tables and the ends of the order.
  var margin: Int { min(4 * (pagesPerTransaction + 12), pageCount * 11 / 20) }
  /// From so many live pages on, something is evicted for what is written…
  var lowWatermark: Int { highWatermark - pagesPerTransaction }
  /// …and at so many, as much as is written; above, more.
  var highWatermark: Int { pageCount - margin }
  /// A round of more bytes is committed in parts, in the order of time: within a part the order is the keys', and eviction
  /// goes by that order too.
  var roundPart: Int { max(mapSize / 16, 16 << 10) }
  /// The largest record, with its key, that is accepted: an eighth of the map.
  var largestRecord: Int { min(mapSize / 8, 1 << 31) }
  /// The bytes that a batch may take up in the file: a quarter of the limit, and 256 MiB at most. It is one transaction,
  /// whatever the others are.
  var batchBytes: Int { min(mapSize / 4, 256 << 20) }

  /// Batches that have become one may take up so many pages; beyond, they are given up as one.
  var pagesPerJoinedBatch: Int { pageCount / 2 }

  /// Whether a batch of so many writes and so many bytes of keys, values and tags is one transaction's work.
  func canHold(batchBytes bytes: Int, count: Int) -> Bool {
    guard bytes >= 0, count >= 0, bytes <= mapSize, count <= mapSize / 64 else { return false }
    if count <= 1 { return bytes <= largestRecord }
    // A large record has pages that it shares with none, and fills the last of them by half.
    let unused = StepOutcome.overflowPages(bytes / count) > 0 ? count * DiskLimits.pageSize / 2 : 0
    return max(bytes + unused, 64 * count) <= batchBytes
  }

  /// Bytes of invalidations that a partition keeps until they are purged.
  var invalidationBytes: Int { min(mapSize / 64, 16 << 20) }
  /// How many invalidations the file keeps for each partition after they ended. Another process that notices them late
  /// compares what it has on its way with them.
  var endedInvalidations: Int { min(max(invalidationBytes / 1024, 16), 4096) }
  /// Bytes that may be staged before writers wait.
  var stagedBytes: Int { min(max(mapSize / 8, 16 << 10), 64 << 20) }
  /// Writes that may be staged before writers wait.
  static let stagedCount = 65_536
  /// One bit for each record of a small size that the map could hold.
  var recencyCapacity: Int { mapSize / 64 }
}
