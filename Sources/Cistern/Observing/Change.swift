/// One change of one cache: an entry that came, was replaced or went, or everything that went at once.
public struct Change<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// What changed.
  public enum Event: Sendable {
    /// The key had no value, and now has this one.
    case inserted(Key, Value)
    /// The key had a value, and now has this one.
    case updated(Key, Value)
    /// The key has no value any more, in either tier.
    case removed(Key, RemovalCause)
    /// Every key lost its value at once: ``Cache/removeAll()``.
    case cleared
    /// Every key with a tag, or with a prefix, lost its value at once: ``Cache/removeAll(tagged:context:)``. Everyone hears
    /// of it, whatever the scope; the keys are not told one by one.
    case invalidated(Invalidation)
  }

  /// The change's number: greater than that of every earlier change of the same key. Numbers of other keys may lie
  /// between.
  public let number: UInt64
  /// What changed.
  public let event: Event
  /// Whose change it is, as given with the write; nil where nothing was given, and for what nobody asked for.
  public let context: WriterContext?

  @usableFromInline
  package init(number: UInt64, event: Event, context: WriterContext? = nil) {
    self.number = number
    self.event = event
    self.context = context
  }

  /// The key that changed; nil where many did at once.
  public var key: Key? {
    switch event {
    case .inserted(let key, _), .updated(let key, _), .removed(let key, _): key
    case .cleared, .invalidated: nil
    }
  }

  /// The newest value; nil where there is none now, and for ``Event/invalidated(_:)``, after which a key may have one still.
  public var value: Value? {
    switch event {
    case .inserted(_, let value), .updated(_, let value): value
    case .removed, .cleared, .invalidated: nil
    }
  }
}

/// Why an entry went.
public enum RemovalCause: Sendable, Hashable {
  /// Someone asked: it was removed.
  case explicit
  /// Its time was up.
  case expired
  /// It made room for others, in the last tier that held it.
  case evicted
  /// The disk damaged or failed to write the last copy.
  case lost
  /// An older version of the cache's schema wrote it, and it was not migrated (``CacheSchema``).
  case outdated
  /// Its key was given a value that no tier can hold, so that the older one had to go.
  case refused
}
