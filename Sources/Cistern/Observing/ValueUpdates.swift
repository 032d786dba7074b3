/// The value of a key as it is and as it becomes: first what it is when somebody begins to iterate, then every later one.
///
///     for await article in articles.valueUpdates(forKey: id) { render(article) }
///
/// A value in grace is the key's value, as it is for loads: it is what the sequence begins with. Its end is told when it is gone, and
/// not when its lifetime ends.
///
/// Nothing is missed between the two, and nothing comes twice. A consumer that is slower than the changes misses some in
/// between, never the last. It ends as ``Updates`` do.
public struct ValueUpdates<Key: Hashable & Sendable, Value: Sendable>: AsyncSequence, Sendable {
  /// The value; nil where there is none now.
  public typealias Element = Value?
  /// It never fails.
  public typealias Failure = Never

  let key: Key
  let updates: Updates<Key, Value>
  /// Weak: a sequence does not keep a cache alive.
  weak let cache: Cache<Key, Value>?

  /// Begins to iterate, with the value of now.
  public func makeAsyncIterator() -> Iterator {
    // Registered before the value is read: what changes in between comes again, and is told by its number.
    Iterator(key: key, updates: updates.makeAsyncIterator(), cache: cache)
  }

  /// Brings one value after the other. For one task at a time.
  public struct Iterator: AsyncIteratorProtocol {
    let key: Key
    var updates: Updates<Key, Value>.Iterator
    weak var cache: Cache<Key, Value>?
    var shown = ShownValue<Key, Value>()

    /// The next value, as soon as there is one; nil at the end.
    public mutating func next() async -> Value?? {
      await next(isolation: nil)
    }

    /// The next value, as soon as there is one; nil at the end. Stays on the caller's actor.
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
