#if Service
  import Locking

  /// The values of the label that names a cache. Their number is bounded, because a back end keeps a time series for
  /// each.
  final class CacheLabels: Sendable {
    private let limit: Int
    private let names = Guarded<Set<String>>([])

    /// The label of the caches beyond the limit.
    static let other = "other"
    /// The label of caches without a name.
    static let unnamed = "unnamed"

    init(limit: Int) {
      self.limit = limit
    }

    /// Returns the label of a cache. A name keeps its label for the life of the process.
    func label(ofCache name: String) -> String {
      let name = name.isEmpty ? Self.unnamed : name
      return names.withLock { names in
        if names.contains(name) { return name }
        guard names.count < limit else { return Self.other }
        names.insert(name)
        return name
      }
    }
  }
#endif
