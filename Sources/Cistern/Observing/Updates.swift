/// The changes of a cache, as they come: of one key, of a prefix, or of all.
///
///     for await change in articles.updates(forKey: id) { render(change.value) }
///
/// It begins when it is made: the first iterator brings every change since, as far as the buffering keeps them. Each
/// further iterator begins when it is made, and each sees every change, independently of the others.
///
/// It never throws. It ends when the task that iterates is cancelled, at once, whatever is still buffered; and when the
/// cache goes away, after what is buffered. Abandoning an iterator (leaving the loop) unregisters it. Whoever leaves the
/// sequence alone costs the cache what its buffering keeps.
public struct Updates<Key: Hashable & Sendable, Value: Sendable>: AsyncSequence, Sendable {
  /// A change.
  public typealias Element = Change<Key, Value>
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

  /// Brings one change after the other. For one task at a time.
  public struct Iterator: AsyncIteratorProtocol {
    let subscription: Subscription<IteratorMailbox>?

    /// The next change, as soon as there is one; nil at the end.
    public mutating func next() async -> Change<Key, Value>? {
      await next(isolation: nil)
    }

    /// The next change, as soon as there is one; nil at the end. Stays on the caller's actor.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Change<Key, Value>? {
      guard let subscription else { return nil }
      guard let change = await subscription.mailbox.next(isolation: actor) else {
        subscription.end()
        return nil
      }
      return change.change()
    }
  }
}
