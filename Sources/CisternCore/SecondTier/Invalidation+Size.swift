extension Invalidation {
  /// Its bytes in memory, and in the file, roughly.
  package var size: Int {
    switch self {
    case .tag(let tag): tag.utf8.count + 96
    case .prefix(let prefix): prefix.count + 96
    }
  }
}
