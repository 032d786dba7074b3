/// An asynchronous sequence of the contents of a scope: the initial entries of both tiers, and every later change.
///
/// ```swift
/// var news: [String: Article] = [:]
/// for await update in articles.contentUpdates(.prefix("news/")) { update.apply(to: &news) }
/// ```
///
/// **Guarantee.** For each key, the elements in order lead to the cache's value. A change that an initial entry
/// contains is not delivered. A change that the initial entries do not contain is delivered. The initial entries are no
/// snapshot: two entries can be those of different instants. A value in grace counts as the key's value, and the end of
/// a lifetime counts when a look-up or a write notices it.
///
/// **Removals of many keys.** A removal of all keys, of a tag or of a prefix lists no keys. The sequence delivers
/// ``ContentUpdate/restarted(cause:)``, and then the entries that are left. A removal by a prefix that has no key in
/// common with the observed prefix delivers nothing.
///
/// **Memory.** The values are read in groups of 64 keys. The sequence keeps one group, the keys of memory until the
/// initial entries have ended, and the newest change of each key that changes.
///
/// Each iterator begins when it is created. The sequence ends as ``Updates`` does, or after
/// ``ContentUpdate/failed(_:)``.
public struct ContentUpdates<Key: CacheKey, Value: Sendable>: AsyncSequence, Sendable {
  /// An initial entry, a change, or a new beginning.
  public typealias Element = ContentUpdate<Key, Value>
  /// The sequence never throws.
  public typealias Failure = Never

  let scope: ObservationScope<Key>
  let buffering: UpdateBuffering
  /// The number of keys that are read without a suspension.
  var groupSize = 64
  /// The number of records that one transaction reads.
  var chunkSize = EntryWalk<Key, Value>.chunkSize
  /// Weak, because a sequence does not keep its cache alive.
  weak let cache: Cache<Key, Value>?

  init(_ scope: ObservationScope<Key>, buffering: UpdateBuffering, of cache: Cache<Key, Value>) {
    self.scope = scope
    self.buffering = buffering
    self.cache = cache
  }

  /// Creates an iterator that begins with the entries that the cache has now.
  public func makeAsyncIterator() -> Iterator {
    var reader = ContentReader(scope, buffering: buffering, of: cache)
    reader.groupSize = groupSize
    reader.chunkSize = chunkSize
    return Iterator(reader: reader)
  }

  /// An iterator over the contents. Only one task at a time may use it.
  public struct Iterator: AsyncIteratorProtocol {
    var reader: ContentReader<Key, Value>
    private var updates: ArraySlice<Element> = []

    init(reader: ContentReader<Key, Value>) {
      self.reader = reader
    }

    /// Waits for the next element and returns it; nil at the end of the sequence.
    public mutating func next() async -> ContentUpdate<Key, Value>? {
      await next(isolation: nil)
    }

    /// Waits for the next element and returns it; nil at the end of the sequence. Runs on the caller's actor.
    ///
    /// - Parameter actor: The actor of the caller.
    /// - Returns: The element; nil at the end.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> ContentUpdate<Key, Value>? {
      if Task.isCancelled {
        updates = []
        reader.subscription?.end()
        return nil
      }
      while updates.isEmpty {
        guard let next = await nextUpdates(isolation: actor) else { return nil }
        updates = next[...]
      }
      return updates.popFirst()
    }

    /// Waits for the next elements and returns them; nil at the end.
    mutating func nextUpdates(isolation actor: isolated (any Actor)?) async -> [Element]? {
      while true {
        switch reader.step() {
        case .updates(let updates):
          if !updates.isEmpty { return updates }
          // No other task waits for a group without entries, and no transaction is open.
          await Task.yield()
          if Task.isCancelled { reader.subscription?.end() }
        case .following:
          guard let change = await reader.subscription?.next(isolation: actor) else { return nil }
          let updates = reader.take(change)
          if !updates.isEmpty { return updates }
        case .ended:
          return nil
        }
      }
    }
  }
}
