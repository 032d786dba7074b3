/// An event of one key, without the key and the value.
@usableFromInline
enum WriteEvent: Sendable, Hashable {
  case inserted
  case updated
  /// The key has a value that observers know already. Only observers of a tag's contents need it, because its tags may
  /// differ.
  case unannounced
  case removed(RemovalCause)
}
