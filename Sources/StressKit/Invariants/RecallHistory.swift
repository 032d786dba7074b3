/// The number of fetches and removals of a key that the cache never evicts. Pure.
struct RecallHistory: Sendable {
  private var removals = 0
  private var fetchCount = 0

  /// Records that a removal is about to be called.
  mutating func noteRemoval() { removals += 1 }

  /// Records the start of a fetch. Returns the contradiction, or nil.
  ///
  /// Each removal ends at most one entry or flight, and one fetch replaces it.
  mutating func noteFetch() -> String? {
    fetchCount += 1
    guard fetchCount > removals + 1 else { return nil }
    return "the key was fetched \(fetchCount) times, but removed only \(removals) times"
  }
}
