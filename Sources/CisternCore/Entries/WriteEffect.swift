/// The effect of a write on operations that began before it.
@usableFromInline
enum WriteEffect: Sendable, Hashable {
  /// The key is removed, or its value is replaced. A value whose fetch began before is not stored.
  case replacement
  /// The write adds a value that other values are merged with. A value whose fetch began before is merged under it.
  case addition
  /// As ``addition``, by a fetch that began before the key's current value. The flight that began after that value
  /// stays in progress.
  case olderAddition
  /// The value stays the same, or it ended by itself: it was promoted, expired or damaged.
  case maintenance
}
