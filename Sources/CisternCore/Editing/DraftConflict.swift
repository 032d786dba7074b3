/// A key that changed both in a draft and below it.
public struct DraftConflict<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The key.
  public let key: Key
  /// The value that the draft first read. It is nil if the key was absent, or if the draft wrote the key without
  /// reading it.
  public let original: Value?
  /// The current value below the draft, or nil if the key was removed.
  public let theirs: Value?
  /// The draft's value, or nil if the draft removed the key.
  public let mine: Value?
}
