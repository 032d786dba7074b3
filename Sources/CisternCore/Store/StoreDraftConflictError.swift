/// The cause of a `CisternError` that the save of a draft over several caches throws for conflicts.
public struct StoreDraftConflictError: Error, Sendable {
  private let conflicts: [(cache: ObjectIdentifier, name: String, error: any Error)]

  init(_ conflicts: [(cache: ObjectIdentifier, name: String, error: any Error)]) { self.conflicts = conflicts }

  /// The names of the caches with conflicts.
  public var cacheNames: [String] { conflicts.map(\.name) }

  /// Returns the keys that the draft wrote and that have changed in a cache.
  ///
  /// - Parameter cache: The cache.
  /// - Returns: The keys. Empty if none has changed, and in the error of a log that leaves out keys.
  public func keys<Key, Value>(in cache: Cache<Key, Value>) -> [Key] {
    let conflict = conflicts.first { $0.cache == ObjectIdentifier(cache) }
    return (conflict?.error as? DraftConflictError<Key>)?.keys ?? []
  }

  var wrapped: CisternError {
    CisternError(
      .conflict, "keys that the draft wrote changed outside the draft, so it was not saved", location: "saving a draft",
      cause: self)
  }
}

extension StoreDraftConflictError: CustomStringConvertible {
  /// The first keys of each cache, with its name.
  public var description: String { conflicts.map { "\($0.error) in the cache \"\($0.name)\"" }.joined(separator: "; ") }
}

extension StoreDraftConflictError: KeyedError {
  package var withoutKey: any Error {
    StoreDraftConflictError(
      conflicts.map { (cache: $0.cache, name: $0.name, error: $0.error.withoutKeys) })
  }
}
