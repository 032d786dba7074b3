/// The resolution of conflicts in a draft over several caches; see ``StoreDraft``.
///
/// ```swift
/// try changes.save(onConflict: .throw.resolving(articles, by: .mine))
/// ```
public struct StoreDraftConflictPolicy: Sendable {
  private enum Decision: Sendable {
    case theirs
    case mine
    case `throw`
  }

  /// The policy of one cache, which is retained so that no other cache can have its identity.
  private struct Resolution: Sendable {
    let cache: any Sendable & AnyObject
    let policy: any Sendable
  }

  private let decision: Decision
  private var resolutions: [ObjectIdentifier: Resolution] = [:]

  private init(_ decision: Decision) {
    self.decision = decision
  }

  /// Keeps the cached values, and drops the draft's writes of these keys.
  public static var theirs: StoreDraftConflictPolicy { StoreDraftConflictPolicy(.theirs) }

  /// Applies the draft's writes.
  public static var mine: StoreDraftConflictPolicy { StoreDraftConflictPolicy(.mine) }

  /// Saves nothing and throws.
  public static var `throw`: StoreDraftConflictPolicy { StoreDraftConflictPolicy(.throw) }

  /// Returns the policy with another resolution for the keys of one cache.
  ///
  /// The closure of a ``DraftConflictPolicy/merge(_:)`` must not write a key that the draft wrote, in any cache: the
  /// save would not end.
  ///
  /// - Parameters:
  ///   - cache: The cache.
  ///   - policy: The resolution, for example ``DraftConflictPolicy/merge(_:)``.
  /// - Returns: The policy.
  public func resolving<Key, Value>(
    _ cache: Cache<Key, Value>, by policy: DraftConflictPolicy<Key, Value>
  ) -> StoreDraftConflictPolicy {
    var new = self
    new.resolutions[ObjectIdentifier(cache)] = Resolution(cache: cache, policy: policy)
    return new
  }

  func policy<Key, Value>(for cache: Cache<Key, Value>) -> DraftConflictPolicy<Key, Value> {
    if let policy = resolutions[ObjectIdentifier(cache)]?.policy as? DraftConflictPolicy<Key, Value> { return policy }
    return switch decision {
    case .theirs: .theirs
    case .mine: .mine
    case .throw: .throw
    }
  }
}

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
