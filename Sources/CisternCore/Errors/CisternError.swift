/// An error with the failed operation, the cause and a remedy.
///
/// A miss is not an error. Damage on disk is not an error either: it is set aside and reported in a ``StoreReport``.
/// An error is thrown only for a problem that the caller, or the person who runs the program, must solve.
public struct CisternError: Error, Sendable {
  /// The kind of failure, for code to switch on.
  public enum Code: Sendable, Hashable {
    /// A limit, name or option is invalid. The message names it and the allowed values.
    case invalidArgument
    /// The directory is a file, cannot be created, or is not readable or writable for the process.
    case directoryUnusable
    /// The disk has no room for the required data, or the store's limit is too low for it.
    case noSpace
    /// Another process, or another store of this process, uses the directory in a way that cannot be shared.
    case storeInUse
    /// The store or cache is open in this process with other settings or types, or another codec wrote a cache's
    /// records. The message states the difference.
    case conflictingOpen
    /// The store was closed, or it belongs to the parent process of a fork.
    case storeClosed
    /// The store is read-only.
    case readOnly
    /// The write was refused, because it is larger than the tier can ever hold, or has more tags.
    case tooLarge
    /// The value could not be encoded. If the cache has a weigher, memory holds the value. Otherwise, nothing was
    /// stored.
    case notEncodable
    /// A key that a draft wrote has changed below the draft, so nothing was saved. The cause is a
    /// ``DraftConflictError``, or a ``StoreDraftConflictError`` for a draft over several caches.
    case conflict
    /// A new value could not be merged with the cached one. The cached value stays, and the new one is not stored. Or
    /// the closure of a ``DraftConflictPolicy`` threw, and the draft was not saved.
    case notMerged
    /// Neither tier has the value, and the load policy does not allow a fetch (``LoadPolicy/cachedOnly``).
    case notCached
    /// The origin has no value for the key. The fetch of another caller returned ``FetchOutcome/absent(expiry:)``.
    case noValue
    /// The caller's time limit passed (``LoadPolicy/timingOut(after:)``).
    case timedOut
    /// The cache's ``CircuitBreaker`` is open, and the fetch was not called. The message states when it permits the
    /// next one.
    case circuitOpen
    /// A fetch loads a key whose fetch waits for it, directly or through others. Neither of them could end.
    case cyclicLoad
    /// The disk failed. Writes that were staged but not committed are not on disk.
    case diskFailed
  }

  /// The kind of failure.
  public let code: Code
  /// A sentence for people, which states the problem and its remedy.
  public let message: String
  /// The operation, and the path, cache or key that it concerned.
  public let location: String
  /// The underlying error, if any.
  public let cause: (any Error)?
  /// The remedy, or nil if the message contains it.
  let remedy: String?

  /// Creates an error. Custom second tiers throw these errors, too.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - message: A sentence that states the problem and its remedy.
  ///   - location: The operation, and the path, cache or key that it concerned.
  ///   - cause: The underlying error.
  public init(_ code: Code, _ message: String, location: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.location = location
    self.cause = cause
    remedy = code.advice
  }

  /// Creates an error whose remedy is not the usual one of its code. The remedy is nil if the message contains it.
  package init(_ code: Code, _ message: String, location: String, cause: (any Error)? = nil, remedy: String?) {
    self.code = code
    self.message = message
    self.location = location
    self.cause = cause
    self.remedy = remedy
  }
}

extension CisternError: CustomStringConvertible {
  /// The message, the operation that failed, the cause and any advice, on one line.
  public var description: String {
    var text = "\(message) (\(location))"
    if let cause { text += ": \(cause)" }
    if let remedy { text += ". \(remedy)." }
    return text
  }
}

extension CisternError.Code {
  /// The usual remedy of the code, or nil if messages of this kind contain one.
  var advice: String? {
    switch self {
    case .invalidArgument, .directoryUnusable, .conflictingOpen, .storeInUse, .cyclicLoad: nil
    case .noSpace: "Free space on the disk, or raise the store's disk limit"
    case .storeClosed: "Open the store again"
    case .readOnly: "Open the store for writing"
    case .tooLarge: "Raise the store's disk limit, or store smaller values"
    case .notEncodable: "Correct the value, or give the cache a codec that can encode it"
    case .conflict: "Save again with a policy that resolves the conflicts"
    case .notMerged: "Correct the cache's merge, or remove the key first"
    case .notCached: "Load the key with a policy that fetches"
    case .noValue: "Load the key with a fetch that returns an outcome, and expect nil"
    case .timedOut: "Load the key again, or wait longer"
    case .circuitOpen: "Load the key again after that time, or accept a stale value"
    case .diskFailed: "Check the disk; until it works again, values are kept in memory only"
    }
  }
}
