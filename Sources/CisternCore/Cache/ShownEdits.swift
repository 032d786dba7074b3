/// The edits of a key after a write that changes their shown value. An object, because few writes have one.
@usableFromInline
final class ShownEdits<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let edited: EditedKeys<Key, Value>.Edited
  @usableFromInline let encodingError: (any Error)?

  @usableFromInline
  init(_ edited: EditedKeys<Key, Value>.Edited, encodingError: (any Error)?) {
    self.edited = edited
    self.encodingError = encodingError
  }

  /// The edits that are kept beside memory; nil if none is pending.
  @usableFromInline var kept: EditedKeys<Key, Value>.Edited? { edited.queue.isEmpty ? nil : edited }

  /// Whether the edits lie over a confirmed value.
  @usableFromInline var hasConfirmedValue: Bool { edited.queue.base != nil }
}
