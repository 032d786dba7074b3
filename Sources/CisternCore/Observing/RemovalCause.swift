/// The reason why an entry was removed.
public enum RemovalCause: Sendable, Hashable {
  /// The cache was asked to remove the entry.
  case explicit
  /// The lifetime of the entry ended.
  case expired
  /// The last tier that held the entry evicted it to make room.
  case evicted
  /// The last copy was lost. The disk damaged it or failed to write it, or the codec cannot decode it.
  case lost
  /// An older version of the cache's schema wrote the entry, and the entry was not migrated (``CacheSchema``).
  case outdated
  /// Both tiers refused a new value of the key, and the older value was removed. The new value is too large or not
  /// encodable, or its lifetime is zero.
  case refused
}
