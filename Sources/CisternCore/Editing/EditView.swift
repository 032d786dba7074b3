/// The view that the unconfirmed edits of a key give of it.
@usableFromInline
enum EditView<Value> {
  /// The key has no unconfirmed edits.
  case unedited
  /// The edits show this value. Nil if they show the key without a value.
  case shows(Value?)

  /// Whether the key has unconfirmed edits.
  @usableFromInline var isEdited: Bool { if case .unedited = self { false } else { true } }

  /// Whether the edits show a value.
  @usableFromInline var presence: WriteSituation.ShownPresence {
    switch self {
    case .unedited: .unedited
    case .shows(.some): .shown
    case .shows(nil): .removed
    }
  }
}

extension EditView: Sendable where Value: Sendable {}
