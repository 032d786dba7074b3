/// How often a key was asked for that nothing but a removal makes the cache forget. Pure.
struct RecallHistory: Sendable {
  private var removals = 0
  private var fetchCount = 0

  /// A removal is about to be made.
  mutating func isRemoved() { removals += 1 }

  /// A fetch begins; what is wrong about that. Each removal ends one entry or flight at most, which one fetch replaces.
  mutating func fetches() -> String? {
    fetchCount += 1
    guard fetchCount > removals + 1 else { return nil }
    return "it was asked for \(fetchCount) times, and removed \(removals) times"
  }
}
