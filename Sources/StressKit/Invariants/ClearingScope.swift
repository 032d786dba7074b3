import Cistern

/// The set of keys that a removal of many keys covers.
enum ClearingScope: Hashable, Sendable {
  case all
  case tag(String)
  case prefix(String)

  /// The scope of an invalidation event, or nil if its prefix is not text.
  init?(_ invalidation: Invalidation) {
    switch invalidation {
    case .tag(let tag): self = .tag(tag)
    case .prefix(let bytes):
      guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
      self = .prefix(text)
    }
  }
}

extension KeySpace {
  /// The number of tags. Keys with equal remainders share a tag.
  private static let tagCount = 32

  /// Returns the tag of a key's values.
  func tag(of key: Int) -> String { "tag\(key % KeySpace.tagCount)" }

  /// Returns the scopes that contain a key.
  func scopes(of key: Int) -> [ClearingScope] {
    [.all, .tag(tag(of: key))] + (prefix(of: key).map { [.prefix($0)] } ?? [])
  }
}
