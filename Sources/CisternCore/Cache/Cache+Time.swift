extension Cache {
  /// The time of day on which the lifetimes of stored values are measured.
  ///
  /// It is the clock's time of day, or the time of day at the opening plus the time that has passed since, if that is later. A clock
  /// that is set back while the cache is open therefore extends no lifetime. Compare times of day with it, for example the
  /// `Date` header of a response.
  ///
  /// - Complexity: O(1).
  public var wallTime: WallTime { loader.lifetimes.wallNow() }
}
