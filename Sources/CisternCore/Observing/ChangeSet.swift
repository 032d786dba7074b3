/// The changes of one write: several for a batch, one for any other write or for a removal of many keys at once.
public struct ChangeSet<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The changes, one for each key, in the order of their numbers.
  public let changes: [Change<Key, Value>]
  /// The context that was passed with the write; nil if none was passed.
  public let context: WriterContext?
  /// Whether a removal by tag or prefix removed all keys, because the second tier cannot remove a part of them
  /// (``SecondTierPartition/invalidatesExactly``).
  public let isWidened: Bool

  init(changes: [Change<Key, Value>], context: WriterContext?, isWidened: Bool = false) {
    self.changes = changes
    self.context = context
    self.isWidened = isWidened
  }

  /// The keys that had no value before, with their new values.
  ///
  /// - Complexity: O(*n*) for *n* changes.
  public var inserted: [Key: Value] {
    values { if case .inserted(let key, let value) = $0 { (key, value) } else { nil } }
  }

  /// The keys that had another value before, with their new values.
  ///
  /// - Complexity: O(*n*) for *n* changes.
  public var updated: [Key: Value] {
    values { if case .updated(let key, let value) = $0 { (key, value) } else { nil } }
  }

  /// The keys that lost their values, with the reasons.
  ///
  /// - Complexity: O(*n*) for *n* changes.
  public var removed: [Key: RemovalCause] {
    values { if case .removed(let key, let cause) = $0 { (key, cause) } else { nil } }
  }

  /// Whether all keys lost their values at once (``Cache/removeAll(context:)``).
  ///
  /// - Complexity: O(*n*) for *n* changes.
  public var isCleared: Bool {
    changes.contains { if case .cleared = $0.event { true } else { false } }
  }

  private func values<Content>(_ content: (Change<Key, Value>.Event) -> (Key, Content)?) -> [Key: Content] {
    Dictionary(changes.compactMap { content($0.event) }) { _, newer in newer }
  }
}
