/// A change of a cache: one entry was inserted, replaced or removed, or many were removed at once.
public struct Change<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The kind of a change, with the key and value that it concerns.
  public enum Event: Sendable {
    /// A key without a value received this value.
    case inserted(Key, Value)
    /// A key with a value received this value.
    case updated(Key, Value)
    /// A key lost its value in both tiers.
    case removed(Key, RemovalCause)
    /// All keys lost their values at once (``Cache/removeAll(context:)``).
    ///
    /// Also if the second tier lost all records. An insertion then follows for each value that memory still holds.
    case cleared
    /// All keys with a tag or a prefix lost their values at once (``Cache/removeAll(tagged:context:)``). All
    /// observers are notified, regardless of their scope. The keys are not listed.
    case invalidated(Invalidation)
  }

  /// The number of the change, which is greater than that of every earlier change of the same key. Changes of other
  /// keys may have numbers in between.
  public let number: UInt64
  /// The kind of the change.
  public let event: Event
  /// The value that the key had before, if it is known.
  ///
  /// - It is known if memory held the value: for replacements, removals, expiry and evictions.
  /// - It is ``PreviousValue/unknown`` if the second tier alone held the value, and for a change of many keys.
  /// - A set of an expired value is two changes: the removal of the expired value, and an insertion.
  /// - If ``UpdateBuffering/newestPerKey`` replaces a change that was not consumed, the newer change gets the previous
  ///   value of the older one. ``event`` remains that of the newer one. If a removal of many keys is between them, the
  ///   previous value is unknown.
  ///
  /// A change keeps its previous value alive, so that a buffered change keeps two values. Without observers, no write
  /// keeps one.
  public internal(set) var previous: PreviousValue<Value>
  /// The context that was passed with the write. Nil if none was passed, and for changes without a writer, such as
  /// expiry and eviction.
  public let context: WriterContext?

  @usableFromInline
  package init(
    number: ChangeNumber, event: Event, previous: PreviousValue<Value> = .unknown, context: WriterContext? = nil
  ) {
    self.number = number.number
    self.event = event
    self.previous = previous
    self.context = context
  }

  /// The key that changed; nil if many keys changed at once.
  public var key: Key? {
    switch event {
    case .inserted(let key, _), .updated(let key, _), .removed(let key, _): key
    case .cleared, .invalidated: nil
    }
  }

  /// The new value; nil if the key has none. Also nil for ``Event/invalidated(_:)``, after which some keys may
  /// still have a value.
  public var value: Value? {
    switch event {
    case .inserted(_, let value), .updated(_, let value): value
    case .removed, .cleared, .invalidated: nil
    }
  }
}
