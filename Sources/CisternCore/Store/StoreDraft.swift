/// A layer of unsaved writes over several caches of a store. A save applies all writes together.
///
/// ```swift
/// let changes = store.draft()
/// changes[id, in: articles]?.title = "A better title"
/// changes[id, in: previews] = nil
/// try changes.save()
/// ```
///
/// In each cache, the draft behaves like a ``Draft``: for reads, conflicts, tags, merging and unconfirmed edits. A save
/// is one batch over all caches (``Store/batch(context:_:)``). After a save or a discard, the draft continues as an
/// empty layer.
///
/// A draft of a draft saves into that draft, and only the outermost one saves into the caches (``draft()``).
///
/// A draft may be used from any thread. A write of another thread during a save is saved, or stays in the draft.
public final class StoreDraft: Sendable {
  /// The layer below a draft.
  enum Base: Sendable {
    case store(Store)
    case draft(StoreDraft)
  }

  let base: Base
  /// The layers over the caches that were used.
  let layers = PartsByCache<any StoreDraftLayer>()
  let saves = SaveOrder()

  init(over base: Base) {
    self.base = base
  }

  /// Returns a draft of this draft. It saves into this one, all writes together.
  ///
  /// A save of the nested draft has a conflict if a key that it wrote was written in this draft since. A save of this
  /// draft is a conflict for the nested one only if a policy chose another value than this draft's own. Changes of the
  /// caches below are conflicts of this draft.
  public func draft() -> StoreDraft { StoreDraft(over: .draft(self)) }

  /// Accesses the value of a key: the draft's own if it wrote the key, and otherwise the cached one. Setting nil
  /// removes the key.
  public subscript<Key, Value>(key: Key, in cache: Cache<Key, Value>) -> Value? {
    get { layer(over: cache)[key] }
    set { layer(over: cache)[key] = newValue }
  }

  /// Returns the value of a key: the draft's own if it wrote the key, and otherwise the cached one.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - cache: A cache of the store.
  /// - Returns: The value, or nil if the key is absent.
  public func value<Key, Value>(forKey key: Key, in cache: Cache<Key, Value>) -> Value? {
    layer(over: cache).value(forKey: key)
  }

  /// Adds a write that stores a value when the draft is saved.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The key.
  ///   - cache: A cache of the store. If it is not of this store, the save throws.
  ///   - expiry: The lifetime of the value, or nil for that of the cache.
  ///   - tags: The tags of the value, or nil for those of the cached value.
  public func setValue<Key, Value>(
    _ value: Value, forKey key: Key, in cache: Cache<Key, Value>, expiry: Expiry? = nil, tags: [String]? = nil
  ) {
    layer(over: cache).setValue(value, forKey: key, expiry: expiry, tags: tags)
  }

  /// Adds a write that removes a key when the draft is saved.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - cache: A cache of the store. If it is not of this store, the save throws.
  public func removeValue<Key, Value>(forKey key: Key, in cache: Cache<Key, Value>) {
    layer(over: cache).removeValue(forKey: key)
  }

  /// Returns a draft of this draft's layer over one cache. It saves into this draft.
  ///
  /// - Parameter cache: A cache of the store.
  /// - Returns: The draft.
  public func draft<Key, Value>(of cache: Cache<Key, Value>) -> Draft<Key, Value> { layer(over: cache).draft() }

  /// Whether the draft has no unsaved writes.
  public var isEmpty: Bool { layers.all.allSatisfy(\.isEmpty) }

  /// Returns the keys of a cache with unsaved writes, in the order of their first writes.
  ///
  /// - Parameter cache: A cache of the store.
  /// - Returns: The keys.
  public func writtenKeys<Key, Value>(in cache: Cache<Key, Value>) -> [Key] { layer(over: cache).writtenKeys }

  /// Returns the written keys of a cache that have changed there. More keys may change before a save.
  ///
  /// - Parameter cache: A cache of the store.
  /// - Returns: The keys.
  public func conflicts<Key, Value>(in cache: Cache<Key, Value>) -> [Key] { layer(over: cache).conflicts }

  /// Drops the unsaved writes.
  public func discard() {
    for layer in layers.all { layer.discard() }
  }

  /// Returns the layer over a cache. In a draft of a draft, it is a draft of the other draft's layer.
  func layer<Key, Value>(over cache: Cache<Key, Value>) -> Draft<Key, Value> {
    let layer = layers.part(of: cache, erasedBy: { $0 }) { () -> CacheDraftLayer<Key, Value> in
      switch base {
      case .store: CacheDraftLayer(cache, below: nil)
      case .draft(let draft): CacheDraftLayer(cache, below: draft.layer(over: cache))
      }
    }
    return layer.draft
  }
}

extension Store {
  /// Creates a scratch layer over the caches of the store. Its writes stay in it until they are saved together.
  public func draft() -> StoreDraft { StoreDraft(over: .store(self)) }
}
