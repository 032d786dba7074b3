/// An asynchronous sequence of the changes of a cache, in which the changes of one write are one element.
///
///     for await set in articles.changeSets() { list.apply(inserted: set.inserted, removed: set.removed) }
///
/// It begins and ends as ``Updates`` does.
public struct ChangeSets<Key: Hashable & Sendable, Value: Sendable>: AsyncSequence, Sendable {
  /// The changes of one write.
  public typealias Element = ChangeSet<Key, Value>
  /// The sequence never throws.
  public typealias Failure = Never

  private let source: UpdatesSource

  init(_ source: UpdatesSource) {
    self.source = source
  }

  /// Creates an iterator. The first call returns one that begins with the changes since the sequence was created.
  public func makeAsyncIterator() -> Iterator {
    Iterator(subscription: source.takeSubscription())
  }

  /// An iterator over change sets. Only one task at a time may use it.
  public struct Iterator: AsyncIteratorProtocol {
    let subscription: Subscription<IteratorMailbox>?

    /// Waits for the next change set and returns it; nil at the end of the sequence.
    public mutating func next() async -> ChangeSet<Key, Value>? {
      await next(isolation: nil)
    }

    /// Waits for the next change set and returns it; nil at the end of the sequence. Runs on the caller's actor.
    ///
    /// - Parameter actor: The actor of the caller.
    /// - Returns: The change set; nil at the end.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> ChangeSet<Key, Value>? {
      await subscription?.next(isolation: actor)?.changeSet()
    }
  }
}
