/// The set of changes that an observer receives.
///
/// Every scope includes ``Change/Event/cleared``, which concerns all keys. Every scope also includes
/// ``Change/Event/invalidated(_:)``, which does not list its keys.
public struct ObservationScope<Key: Hashable & Sendable>: Sendable {
  /// The way in which a change finds the observers of a scope.
  enum Selection: Sendable {
    /// All changes.
    case everything
    /// A look-up by the changed key, in time independent of the number of observed keys.
    case keys(Set<Key>)
    /// The keys that begin with the bytes. The predicate is evaluated for each change under locks.
    case prefix([UInt8], matches: @Sendable (Key) -> Bool)
    /// A look-up by the tags of the values before and after the change.
    case tagged(String)
  }

  let selection: Selection

  /// Returns the scope of the changes of values with a tag. The value before the change, or the value after it, has
  /// the tag.
  ///
  /// Observers are not notified of the removal of an entry that only the disk holds, because its tags are not read.
  /// The cost of a change is independent of the number of observed tags.
  ///
  /// - Parameter tag: The tag to observe.
  /// - Returns: The scope.
  public static func tagged(_ tag: String) -> ObservationScope { ObservationScope(selection: .tagged(tag)) }

  /// The scope of all changes of the cache.
  public static var all: ObservationScope { ObservationScope(selection: .everything) }

  /// Returns the scope of the changes of one key. The cost of a change is independent of the number of observed
  /// keys.
  ///
  /// - Parameter key: The key to observe.
  /// - Returns: The scope.
  public static func key(_ key: Key) -> ObservationScope { ObservationScope(selection: .keys([key])) }

  /// Returns the scope of the changes of several keys. The cost of a change is independent of the number of
  /// observed keys.
  ///
  /// - Parameter keys: The keys to observe.
  /// - Returns: The scope.
  public static func keys(_ keys: Set<Key>) -> ObservationScope { ObservationScope(selection: .keys(keys)) }
}

extension ObservationScope where Key == String {
  /// Returns the scope of the changes of keys that begin with a prefix, compared by UTF-8 bytes.
  ///
  /// - Parameter prefix: The prefix to observe.
  /// - Returns: The scope.
  /// - Complexity: Each change evaluates all observed prefixes, one after the other.
  public static func prefix(_ prefix: String) -> ObservationScope { ObservationScope(bytesPrefix: prefix) }
}

extension ObservationScope where Key == [UInt8] {
  /// Returns the scope of the changes of keys that begin with a prefix.
  ///
  /// - Parameter prefix: The prefix to observe.
  /// - Returns: The scope.
  /// - Complexity: Each change evaluates all observed prefixes, one after the other.
  public static func prefix(_ prefix: [UInt8]) -> ObservationScope { ObservationScope(bytesPrefix: prefix) }
}

extension ObservationScope where Key: CacheKey {
  /// Compares the encoded bytes of keys, so that a prefix has the same meaning in both tiers.
  fileprivate init(bytesPrefix prefix: Key) {
    let prefix = prefix.withKeyBytes { $0.copiedBytes() }
    self.init(selection: .prefix(prefix, matches: { $0.hasKeyBytesPrefix(prefix) }))
  }
}
