/// A problem that the store handled without throwing, but that the person who runs the program should know.
public struct StoreReport: Sendable {
  /// The kind of problem, for code to switch on.
  public enum Code: Sendable, Hashable {
    /// Data on disk could not be trusted. The store renamed it and began an empty file. A read-only store changed
    /// nothing, and continues without a file.
    case setAside
    /// Another program removed, emptied or replaced the store's directory or a file in it. The store continues with
    /// the files that exist now.
    case filesReplaced
    /// The data file is older than the state that the store left. Values that were removed or replaced since may be
    /// back.
    case rolledBack
    /// The disk failed. The store writes to memory only. Or the keys on disk could not be read for a removal by a
    /// condition (`removeAll(where:)`), which then removed all records of its cache.
    case degraded
    /// The disk works again, or a full device has room again.
    case recovered
    /// The device is full below the disk limit. The store keeps the newest records that fit. It reports this once
    /// until the device has room again.
    case deviceFull
    /// A record failed its checksum and was removed.
    case damagedRecord
    /// A value could not be encoded. It is in memory only, or if the cache has no weigher, not stored at all.
    case notEncodable
    /// A new value could not be merged with the cached one. The cached value stays, unless the merge throws
    /// ``UnusableCachedValue``. In that case, the new value replaces it.
    case notMerged
    /// A record could not be decoded and was removed.
    case notDecodable
    /// A record of an older schema version could not be migrated and was removed.
    case notMigrated
    /// The tier refused a write, because it can never hold the value, or because a codec other than that of the cache
    /// wrote its records. Or a cache without memory (``CacheTiers/secondTierOnly``) lost a write, because its store is
    /// read-only or closed.
    case refused
    /// A fetch of a newer value failed while callers received the older one. A cache reports at most one such failure
    /// in ten seconds, with the number of the others.
    case refreshFailed
    /// A reader kept its snapshot so long that disk space could not be reused.
    case longReader
  }

  /// The kind of problem.
  public let code: Code
  /// A sentence for people, which states the problem and its remedy.
  public let message: String
  /// The path, cache or key that the report concerns.
  public let location: String
  /// The underlying error, if any.
  public let cause: (any Error)?
  /// The name of the cache that the report concerns; nil for a report about the directory.
  package var cacheName: String?

  /// Creates a report. Custom second tiers create reports, too.
  ///
  /// - Parameters:
  ///   - code: The kind of problem.
  ///   - message: A sentence that states the problem and its remedy.
  ///   - location: The path, cache or key that the report concerns.
  ///   - cause: The underlying error.
  public init(_ code: Code, _ message: String, location: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.location = location
    self.cause = cause
  }
}

extension StoreReport: CustomStringConvertible {
  /// The kind of problem, the message, the location and the cause, on one line.
  public var description: String {
    let head = "\(code): \(message) (\(location))"
    return cause.map { "\(head): \($0)" } ?? head
  }
}
