import CisternCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The sizes that follow from a disk limit: the size of the map, its maximum use, and the size of a transaction.
///
/// LMDB copies each page that it changes, and reuses the old page two commits later. A part of the map therefore
/// stays free: a multiple of the pages that one transaction can touch.
struct DiskLimits: Sendable, Equatable {
  /// The minimum disk limit.
  static let minimum = minimum(pageSize: pageSize)
  /// The maximum disk limit. The address space of today's machines has no room for a larger map.
  static let maximum = ByteCount.gibibytes(65_536)
  /// The number of bytes for the other files of the directory: LMDB's lock file, and the mark.
  static let sideFiles = 48 << 10
  /// The size of a page in bytes. LMDB gives a new file the pages of the operating system, up to 32 KiB.
  ///
  /// A file that comes from a system with other pages keeps them. The limits are then approximate.
  static let pageSize = min(max(sysconf(Int32(_SC_PAGESIZE)), 4096), 32 << 10)
  /// The number of reader slots in LMDB's lock file, for all processes.
  static let readers = 512

  /// The limit on the directory in bytes.
  let limit: Int
  /// The size of the map in bytes, which is the maximum size of the data file.
  let mapSize: Int
  /// The number of pages of the map.
  let pageCount: Int

  /// Creates the sizes for a limit. Throws if the limit is not between ``minimum(pageSize:)`` and ``maximum``.
  init(_ limit: ByteCount, pageSize: Int = DiskLimits.pageSize, location: String) throws(CisternError) {
    let minimum = DiskLimits.minimum(pageSize: pageSize)
    guard limit >= minimum else {
      throw CisternError(
        .invalidArgument,
        "the disk limit must be \(minimum) (\(minimum.bytes) bytes) or more; it is \(limit.bytes) bytes",
        location: location)
    }
    guard limit <= DiskLimits.maximum else {
      throw CisternError(
        .invalidArgument,
        "the disk limit must be \(DiskLimits.maximum) (\(DiskLimits.maximum.bytes) bytes) or less; it is \(limit.bytes) bytes",
        location: location)
    }
    self.limit = limit.bytes
    let room = limit.bytes - DiskLimits.sideFiles
    mapSize = room - room % pageSize
    pageCount = mapSize / pageSize
  }

  private init(limit: Int, pageCount: Int) {
    self.limit = limit
    mapSize = pageCount * DiskLimits.pageSize
    self.pageCount = pageCount
  }

  /// Returns the sizes for a file of at most this many pages, but no fewer than the minimum limit has.
  func reduced(toPages pages: Int) -> DiskLimits {
    let least = (DiskLimits.minimum.bytes - DiskLimits.sideFiles) / DiskLimits.pageSize
    return DiskLimits(limit: limit, pageCount: min(max(pages, least), pageCount))
  }

  /// Returns the minimum disk limit: the tables and their copies need about 50 pages.
  static func minimum(pageSize: Int) -> ByteCount { .bytes(64 * pageSize) }

  /// The number of pages that one transaction should touch at most.
  ///
  /// LMDB keeps the list of the pages that a transaction frees. A list above one page needs free pages in a row, which
  /// a full file of small records hardly has. LMDB would then find the map full, although many pages are free.
  var pagesPerTransaction: Int { min(max(pageCount / 48, 6), 480) }
  /// The number of pages that the last three transactions, and the next one, can hold in addition to the live
  /// pages.
  ///
  /// Besides its own pages, each transaction copies roots, LMDB's own tables and the ends of the eviction order.
  var margin: Int { min(4 * (pagesPerTransaction + 12), pageCount * 11 / 20) }
  /// The number of live pages at which eviction begins.
  var lowWatermark: Int { highWatermark - pagesPerTransaction }
  /// The number of live pages at which eviction frees as much as is written. Above it, eviction frees more.
  var highWatermark: Int { pageCount - margin }
  /// The maximum size of a part of a commit group, in bytes. The parts are committed in staging order.
  ///
  /// Within a part, the records follow the order of their keys, and so does their eviction. Small parts keep the
  /// eviction order close to the order of time.
  var groupPartBytes: Int { max(mapSize / 16, 16 << 10) }
  /// The maximum size of a record with its key, in bytes: an eighth of the map, and less than 2 GiB.
  ///
  /// LMDB writes a large value in one call, and Linux writes at most 2 GiB less a page in one.
  var largestRecord: Int { min(mapSize / 8, 1 << 31 - 1 << 16) }
  /// The maximum size of a batch in the file, in bytes: a quarter of the map, and at most 256 MiB.
  ///
  /// A batch is one transaction, regardless of ``pagesPerTransaction``.
  var batchBytes: Int { min(mapSize / 4, 256 << 20) }

  /// The maximum number of pages of joined batches. Larger ones are given up together.
  var pagesPerJoinedBatch: Int { pageCount / 2 }

  /// Returns whether one transaction can hold a batch.
  ///
  /// - Parameters:
  ///   - bytes: The number of bytes of keys, values and tags.
  ///   - count: The number of writes.
  /// - Returns: Whether a transaction can hold the batch.
  func canHold(batchBytes bytes: Int, count: Int) -> Bool {
    guard bytes >= 0, count >= 0, bytes <= mapSize, count <= mapSize / 64 else { return false }
    if count <= 1 { return bytes <= largestRecord }
    // A large record does not share its pages, and leaves half of the last one empty on average.
    let unused = DiskLimits.overflowPages(bytes / count) > 0 ? count * DiskLimits.pageSize / 2 : 0
    return max(bytes + unused, 64 * count) <= batchBytes
  }

  /// The maximum size of the invalidations that a partition keeps until they are purged, in bytes.
  var invalidationBytes: Int { min(mapSize / 64, 16 << 20) }
  /// The number of ended invalidations that the file keeps for each partition.
  ///
  /// Another process that learns of one late compares the values of its running fetches and staged writes with it.
  var endedInvalidations: Int { min(max(invalidationBytes / 1024, 16), 4096) }
  /// The number of staged bytes above which writers wait.
  var stagedBytes: Int { min(max(mapSize / 8, 16 << 10), 64 << 20) }
  /// The number of staged writes above which writers wait.
  static let stagedCount = 65_536
  /// The number of bits for recency marks: one for each small record that fits into the map.
  var recencyCapacity: Int { mapSize / RecencyBitmap.bytesPerMark }
}

extension DiskLimits {
  /// Returns the number of separate pages of a record with this size. A small record shares its page with others.
  static func overflowPages(_ size: Int) -> Int {
    // LMDB puts two entries into a page or more. The difference is for the key and the headers.
    size > DiskLimits.pageSize / 2 - 148 ? (size + 16 + DiskLimits.pageSize - 1) / DiskLimits.pageSize : 0
  }
}
