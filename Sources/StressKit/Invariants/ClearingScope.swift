import Cistern

/// Which keys a removal of many concerns.
enum ClearingScope: Hashable, Sendable {
  case all
  case tag(String)
  case prefix(String)

  /// What an event says was removed; nil where that is no text.
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
  /// Keys of one tag are every so many.
  private static let tagCount = 32

  /// The tag of a key's values.
  func tag(of key: Int) -> String { "tag\(key % KeySpace.tagCount)" }

  /// The removals that concern a key.
  func scopes(of key: Int) -> [ClearingScope] {
    [.all, .tag(tag(of: key))] + (prefix(of: key).map { [.prefix($0)] } ?? [])
  }
}
