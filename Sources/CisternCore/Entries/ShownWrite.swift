/// The options of a write that changes what unconfirmed edits show.
@usableFromInline
struct ShownWrite: Sendable, Hashable {
  /// The meaning of the write for the writers and fetches that began before it.
  @usableFromInline var effect = WriteEffect.replacement
  /// The change of the confirmed value; nil if it stays.
  @usableFromInline var confirmation: Confirmation?
  /// Whether edits are pending after the write. Their value is kept beside memory.
  @usableFromInline var isPending: Bool
  /// Whether the key has a value for readers after the write.
  @usableFromInline var hasValue: Bool
  /// Whether observers are notified.
  @usableFromInline var isAnnounced: Bool
  /// The reason of the removal, if the key has no value after the write.
  @usableFromInline var removalCause = RemovalCause.explicit

  /// A change of the confirmed value below edits.
  @usableFromInline
  enum Confirmation: Sendable, Hashable, CaseIterable {
    /// It has another value.
    case stored
    /// It had a value and has none now.
    case removed
    /// It had no value and has none now.
    case stillAbsent
    /// Its lifetime was zero, so that it has no value.
    case refused
  }

  @usableFromInline
  init(isPending: Bool, hasValue: Bool, isAnnounced: Bool) {
    self.isPending = isPending
    self.hasValue = hasValue
    self.isAnnounced = isAnnounced
  }
}
