/// A cache, as its store sees it.
package protocol StoreMember: AnyObject, Sendable {
  /// What it has counted.
  var statistics: CacheStatistics { get }
  /// Whole-cache check: empty when sound.
  func checkInvariants() -> [String]
}
