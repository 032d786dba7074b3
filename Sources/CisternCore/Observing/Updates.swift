/// An asynchronous sequence of the changes of a cache: those of one key, of a prefix, or all.
///
///     for await change in articles.updates(forKey: id) { render(change.value) }
///
/// The sequence begins when it is created. The first iterator returns all changes since then, as far as the
/// buffering keeps them. Each further iterator begins when it is created. Each iterator receives every change,
/// independently of the others.
///
/// The sequence never throws. It ends at once when the iterating task is cancelled, and discards buffered changes.
/// When the cache is deinitialized, the sequence ends after the buffered changes. An iterator that goes out of
/// scope, for example when the loop exits, is unregistered. A sequence that is never iterated keeps buffering
/// changes.
public struct Updates<Key: Hashable & Sendable, Value: Sendable>: AsyncSequence, Sendable {
  /// A change of the cache.
  public typealias Element = Change<Key, Value>
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

  /// An iterator over changes. Only one task at a time may use it.
  public struct Iterator: AsyncIteratorProtocol {
    let subscription: Subscription<IteratorMailbox>?

    /// Waits for the next change and returns it; nil at the end of the sequence.
    public mutating func next() async -> Change<Key, Value>? {
      await next(isolation: nil)
    }

    /// Waits for the next change and returns it; nil at the end of the sequence. Runs on the caller's actor.
    ///
    /// - Parameter actor: The actor of the caller.
    /// - Returns: The change; nil at the end.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Change<Key, Value>? {
      await subscription?.next(isolation: actor)?.change()
    }
  }
}
