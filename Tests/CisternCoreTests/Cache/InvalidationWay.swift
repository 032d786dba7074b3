import CisternCore

/// A way to remove the keys `a/…` of a cache in one call.
enum InvalidationWay: CaseIterable, Sendable {
  case tag, tagOfValue, prefix, predicate

  func apply(to cache: Cache<String, Int>) {
    switch self {
    case .tag: cache.removeAll(tagged: "news")
    case .tagOfValue: cache.removeAll(tagged: "odd")
    case .prefix: cache.removeAll(withPrefix: "a/")
    case .predicate: cache.removeAll(where: { $0.hasPrefix("a/") })
    }
  }
}

extension CacheConfiguration<Int> {
  /// A configuration that tags odd values.
  static var taggingOdd: CacheConfiguration<Int> {
    var settings = CacheConfiguration<Int>()
    settings.tagsOfValue = { $0 % 2 == 0 ? [] : ["odd"] }
    return settings
  }
}
