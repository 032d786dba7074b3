extension Cache {
  /// The time of day on which the lifetimes of stored values are measured.
  ///
  /// It is the later of two times: the clock's time of day, and that of the store's opening plus the time that has
  /// passed since. Without a store, the opening is that of the cache. A clock that is set back while the store is open
  /// therefore extends no lifetime. Compare times of day with it, for example the `Date` header of a response.
  ///
  /// - Complexity: O(1).
  public var wallTime: WallTime { loader.lifetimes.wallNow() }
}
