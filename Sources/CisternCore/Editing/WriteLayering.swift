/// The effect of a write on an earlier write of the same key, in the same batch or draft.
@usableFromInline
enum WriteLayering: Sendable {
  /// The write replaces the earlier one.
  case replaces
  /// The write replaces the earlier one but is derived from its value, so it keeps the tags unless it names tags.
  case edits
  /// The value is merged with the earlier one.
  case merges
}
