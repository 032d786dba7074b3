/// An asynchronous sequence of the values of a key. It begins with the current value and continues with each later
/// value.
///
///     for await article in articles.valueUpdates(forKey: id) { render(article) }
///
/// A value in grace counts as the key's value, as it does for loads. The sequence delivers nil when the value is
/// removed, not when its lifetime ends.
///
/// No value between the first and the later ones is missed, and no change is delivered twice. A consumer that is
/// slower than the writers may miss intermediate values, but never the last one. The sequence ends as ``Updates``
/// does.
public struct ValueUpdates<Key: Hashable & Sendable, Value: Sendable>: AsyncSequence, Sendable {
  /// The value; nil if the key has none.
  public typealias Element = Value?
  /// The sequence never throws.
  public typealias Failure = Never

  let key: Key
  let updates: Updates<Key, Value>
  /// Weak, because a sequence does not keep its cache alive.
  weak let cache: Cache<Key, Value>?

  /// Creates an iterator that begins with the current value.
  public func makeAsyncIterator() -> Iterator {
    // The iterator registers before it reads the value. A change in between is delivered again, and is skipped by
    // its number.
    Iterator(key: key, updates: updates.makeAsyncIterator(), cache: cache)
  }

  /// An iterator over values. Only one task at a time may use it.
  public struct Iterator: AsyncIteratorProtocol {
    let key: Key
    var updates: Updates<Key, Value>.Iterator
    weak var cache: Cache<Key, Value>?
    var shown = ShownValue<Key, Value>()

    /// Waits for the next value and returns it. The outer optional is nil at the end of the sequence.
    public mutating func next() async -> Value?? {
      await next(isolation: nil)
    }

    /// Waits for the next value and returns it. The outer optional is nil at the end of the sequence. Runs on the
    /// caller's actor.
    ///
    /// - Parameter actor: The actor of the caller.
    /// - Returns: The value; nil at the end of the sequence.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Value?? {
      guard shown.hasBegun else { return beginning() }
      while let change = await updates.next(isolation: actor) {
        let value = shown.take(change) { [key, weak cache] in cache?.numberedValue(forKey: key) }
        if let value { return .some(value) }
      }
      return nil
    }

    private mutating func beginning() -> Value?? {
      guard !Task.isCancelled, let (value, number) = cache?.numberedValue(forKey: key) else { return nil }
      shown.begin(with: value, number: number)
      return .some(value)
    }
  }
}
