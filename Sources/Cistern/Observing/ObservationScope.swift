/// Which changes of a cache an observer hears of.
///
/// Everyone hears of ``Change/Event/cleared``, whatever the scope: every key is among the cleared ones. And of
/// ``Change/Event/invalidated(_:)``, which does not say which keys.
public struct ObservationScope<Key: Hashable & Sendable>: Sendable {
  /// How a change finds the observers of a scope.
  enum Selection: Sendable {
    /// Every change is theirs.
    case everything
    /// Found by the changed key, however many keys others observe.
    case keys(Set<Key>)
    /// Asked one after the other. Called under locks: it must be of this module.
    case matching(@Sendable (Key) -> Bool)
    /// Found by the tags of the values before and after the change.
    case tagged(String)
  }

  let selection: Selection

  /// The changes of values that carry this tag: of one that comes, of one that takes the place of another, whichever of the
  /// two has the tag, and of one that goes. Of what only the disk held the tags are not looked up when it goes: that is not
  /// told. Found by a dictionary, as one key's are.
  public static func tagged(_ tag: String) -> ObservationScope { ObservationScope(selection: .tagged(tag)) }

  /// Every change of the cache.
  public static var all: ObservationScope { ObservationScope(selection: .everything) }

  /// The changes of one key. Found by a dictionary: a change costs the same, however many other keys are observed.
  public static func key(_ key: Key) -> ObservationScope { ObservationScope(selection: .keys([key])) }

  /// The changes of these keys, found as one key's are.
  public static func keys(_ keys: Set<Key>) -> ObservationScope { ObservationScope(selection: .keys(keys)) }
}

extension ObservationScope where Key == String {
  /// The changes of keys that begin with this prefix, by their UTF-8 bytes. A change asks each prefix observer in turn.
  public static func prefix(_ prefix: String) -> ObservationScope { ObservationScope(bytesPrefix: prefix) }
}

extension ObservationScope where Key == [UInt8] {
  /// The changes of keys that begin with this prefix. A change asks each prefix observer in turn.
  public static func prefix(_ prefix: [UInt8]) -> ObservationScope { ObservationScope(bytesPrefix: prefix) }
}

extension ObservationScope where Key: CacheKey {
  /// By the bytes that a key has on disk, so that a prefix means the same in every part of the cache.
  fileprivate init(bytesPrefix prefix: Key) {
    let prefix = prefix.withKeyBytes { $0.copiedBytes() }
    self.init(selection: .matching { $0.hasKeyBytesPrefix(prefix) })
  }
}
