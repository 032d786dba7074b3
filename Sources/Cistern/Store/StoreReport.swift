/// Something that went wrong and was dealt with: nothing was thrown, and whoever runs the program should know.
public struct StoreReport: Sendable {
  /// The kind of event, for code to switch on.
  public enum Code: Sendable, Hashable {
    /// What was on disk could not be trusted; it was renamed, and an empty store begun.
    case setAside
    /// The store's directory, or a file in it, was removed, emptied or replaced by another program. The store goes on with
    /// the files that are there now.
    case filesReplaced
    /// The data file is older than the store left it. Values that were removed or replaced since may be back.
    case rolledBack
    /// The disk failed; the store goes on in memory only.
    case degraded
    /// The disk works again.
    case recovered
    /// A record failed its checksum; it was removed.
    case damagedRecord
    /// A value could not be encoded: it is in memory only, or if the cache has no weigher, nowhere.
    case notEncodable
    /// An arriving value could not be merged with the one that is cached. That one stays, but for a merge that throws
    /// ``UnusableCachedValue``: then the arriving one replaces it.
    case notMerged
    /// A record could not be decoded; it was removed.
    case notDecodable
    /// A record of an older version of the schema could not be migrated; it was removed.
    case notMigrated
    /// A write was refused, because the tier can never hold it.
    case refused
    /// A fetch of a newer value failed while callers got the older one. A cache reports one such failure in ten seconds at
    /// most, and says how many others there were.
    case refreshFailed
    /// A reader held its snapshot so long that the disk's space could not be reused.
    case longReader
  }

  /// The kind of event.
  public let code: Code
  /// What happened, and what to do: a sentence for a person.
  public let message: String
  /// The path, cache or key that it concerns.
  public let location: String
  /// The error beneath, if there was one.
  public let cause: (any Error)?

  /// Creates a report; a user's own second tier makes these too.
  public init(_ code: Code, _ message: String, location: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.location = location
    self.cause = cause
  }
}

extension StoreReport: CustomStringConvertible {
  /// The kind of event, the message, the path, cache or key, and the cause, on one line.
  public var description: String {
    let head = "\(code): \(message) (\(location))"
    return cause.map { "\(head): \($0)" } ?? head
  }
}
