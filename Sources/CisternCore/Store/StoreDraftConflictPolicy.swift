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
