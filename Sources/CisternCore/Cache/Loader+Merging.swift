// The state of a key before a fetch whose result depends on the cached value.

extension Loader {
  /// Returns the state of the key before the fetch; nil if publishing depends on the entry alone.
  @inlinable
  func mergeBase(of flight: Flight<Value>, for key: HashedKey<Key>) -> MergeBase<Key, Value>? {
    dependsOnCached ? makeMergeBase(of: flight, for: key) : nil
  }

  @inlinable
  func makeMergeBase(of flight: Flight<Value>, for key: HashedKey<Key>) -> MergeBase<Key, Value> {
    MergeBase(of: flight, for: key, in: table)
  }
}
