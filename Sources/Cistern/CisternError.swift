/// What went wrong, in which operation, why, and what to do about it.
///
/// A miss is not an error, and neither is damage on disk, which is set aside and reported
/// (``StoreReport``): what is thrown is what the caller, or whoever runs the program, has to mend.
public struct CisternError: Error, Sendable {
  /// The kind of failure, for code to switch on.
  public enum Code: Sendable, Hashable {
    /// A limit, name or option that cannot be: the message names it and says what is allowed.
    case invalidArgument
    /// The directory is a file, cannot be created, or is not ours to read or write.
    case directoryUnusable
    /// The disk, or the store's limit on it, has no room for what must be there.
    case noSpace
    /// Another process holds the store in a way that cannot be shared.
    case storeInUse
    /// The store or cache is open in this process with other settings or types, or a cache's records were written by
    /// another codec. The message names the difference.
    case conflictingOpen
    /// The store was closed, or belongs to the process that this one was forked from.
    case storeClosed
    /// The store is read-only.
    case readOnly
    /// The write was refused: it is larger than the tier can ever hold.
    case tooLarge
    /// The value could not be encoded. Memory holds it if the cache has a weigher; else nothing was stored.
    case notEncodable
    /// A draft wrote keys that have changed below it since; nothing was saved. The cause is a ``DraftConflictError``.
    case conflict
    /// A value could not be merged with the one that is cached, which stays; the arriving one is not stored.
    case notMerged
    /// Neither tier has the value, and nothing may be fetched (``LoadPolicy/cachedOnly``).
    case notCached
    /// The caller waited as long as it wanted to (``LoadPolicy/timingOut(after:)``).
    case timedOut
    /// A fetch loads a key whose own fetch waits for it, directly or through others: neither could end.
    case cyclicLoad
    /// The disk failed; what was staged before it and not yet committed is not on disk.
    case diskFailed
  }

  /// The kind of failure.
  public let code: Code
  /// What was wrong, and what to do: a sentence for a person.
  public let message: String
  /// The operation, and the path, cache or key that it concerned.
  public let location: String
  /// The error beneath, if there was one.
  public let cause: (any Error)?

  /// Creates an error; a user's own second tier throws these too.
  public init(_ code: Code, _ message: String, location: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.location = location
    self.cause = cause
  }
}

extension CisternError: CustomStringConvertible {
  /// The message, the operation that failed, the cause, and advice if there is any, on one line.
  public var description: String {
    var text = "\(message) (\(location))"
    if let cause { text += ": \(cause)" }
    if let advice = code.advice { text += ". \(advice)." }
    return text
  }
}

extension CisternError.Code {
  /// A remedy that does not depend on the case; nil for kinds of failure whose messages name one.
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
    case .timedOut: "Load the key again, or wait longer"
    case .diskFailed: "Check the disk; until it works again, values are kept in memory only"
    }
  }
}
