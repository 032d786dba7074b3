/// The effect of a write on the unconfirmed edits of its key.
@usableFromInline
enum EditMark: Sendable, Hashable {
  /// The edits stay the same.
  case unchanged
  /// The edits end.
  case ended
  /// The first edit begins.
  case began
}
