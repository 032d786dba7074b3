import CisternCore

/// A removal by tag or prefix that covers the key "k" with the tag "tag", or only other keys.
enum KeyRemoval: CaseIterable, Sendable {
  case otherTag, otherPrefix, tag, prefix

  var isConcerned: Bool { self == .tag || self == .prefix }

  func apply<Value>(to cache: Cache<String, Value>) {
    switch self {
    case .otherTag: cache.removeAll(tagged: "other")
    case .otherPrefix: cache.removeAll(withPrefix: "other/")
    case .tag: cache.removeAll(tagged: "tag")
    case .prefix: cache.removeAll(withPrefix: "k")
    }
  }
}
