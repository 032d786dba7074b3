/// A cache from its store's point of view.
package protocol StoreMember: AnyObject, Sendable {
  /// The counts and the contents of the cache.
  var statistics: CacheStatistics { get }
  /// Checks the whole cache. Returns the violated invariants; a sound cache has none.
  func checkInvariants() -> [String]
}
