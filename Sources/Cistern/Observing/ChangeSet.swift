/// What one write changed: several keys for a batch, one for anything else, or everything that went at once.
public struct ChangeSet<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The changes, one of each key, in the order of their numbers.
  public let changes: [Change<Key, Value>]
  /// Whose write it was, as given with it; nil where nothing was given.
  public let context: WriterContext?

  /// The keys that had no value, and their values now. O(n) for n changes.
  public var inserted: [Key: Value] {
    values { if case .inserted(let key, let value) = $0 { (key, value) } else { nil } }
  }

  /// The keys that had another value, and their values now. O(n) for n changes.
  public var updated: [Key: Value] {
    values { if case .updated(let key, let value) = $0 { (key, value) } else { nil } }
  }

  /// The keys that have no value any more, and why. O(n) for n changes.
  public var removed: [Key: RemovalCause] {
    values { if case .removed(let key, let cause) = $0 { (key, cause) } else { nil } }
  }

  /// Whether every key lost its value at once: ``Cache/removeAll()``.
  public var isCleared: Bool {
    changes.contains { if case .cleared = $0.event { true } else { false } }
  }

  private func values<Content>(_ content: (Change<Key, Value>.Event) -> (Key, Content)?) -> [Key: Content] {
    Dictionary(changes.compactMap { content($0.event) }) { _, newer in newer }
  }
}

/// The changes of a cache as they come, those of one write together.
///
///     for await set in articles.changeSets() { list.apply(inserted: set.inserted, removed: set.removed) }
///
/// It begins and ends as ``Updates`` do.
public struct ChangeSets<Key: Hashable & Sendable, Value: Sendable>: AsyncSequence, Sendable {
  /// What one write changed.
  public typealias Element = ChangeSet<Key, Value>
  /// It never fails.
  public typealias Failure = Never

  private let source: UpdatesSource

  init(_ source: UpdatesSource) {
    self.source = source
  }

  /// Begins to iterate; the first call takes up what has come since the sequence was made.
  public func makeAsyncIterator() -> Iterator {
    Iterator(subscription: source.takeSubscription())
  }

  /// Brings one set after the other. For one task at a time.
  public struct Iterator: AsyncIteratorProtocol {
    let subscription: Subscription<IteratorMailbox>?

    /// The next set, as soon as there is one; nil at the end.
    public mutating func next() async -> ChangeSet<Key, Value>? {
      await next(isolation: nil)
    }

    /// The next set, as soon as there is one; nil at the end. Stays on the caller's actor.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> ChangeSet<Key, Value>? {
      guard let subscription else { return nil }
      guard let change = await subscription.mailbox.next(isolation: actor) else {
        subscription.end()
        return nil
      }
      return change.changeSet()
    }
  }
}
