/// The state of a key before a write, and the room for its new value.
@usableFromInline
struct WriteSituation: Sendable, Hashable {
  /// Whether memory has a value of the key.
  @usableFromInline var isInMemory: Bool
  /// Whether memory will hold the value of the write.
  @usableFromInline var willBeInMemory: Bool
  /// Whether the cache has observers.
  @usableFromInline var isObserved: Bool
  @usableFromInline var edits = ShownPresence.unedited

  @inlinable
  init(isInMemory: Bool, willBeInMemory: Bool, isObserved: Bool) {
    self.isInMemory = isInMemory
    self.willBeInMemory = willBeInMemory
    self.isObserved = isObserved
  }
}

extension WriteSituation {
  /// Whether the key's unconfirmed edits show a value.
  @usableFromInline
  enum ShownPresence: Sendable, Hashable, CaseIterable {
    /// The key has no unconfirmed edits.
    case unedited
    /// The edits show a value.
    case shown
    /// The edits remove the value.
    case removed
  }

  /// Whether the key has unconfirmed edits.
  @inlinable
  var isEdited: Bool { edits != .unedited }

  /// Returns whether callers and observers see a value of the key before the write.
  ///
  /// - Parameter isInTier: Whether a tier has a value. Unconfirmed edits hide it.
  /// - Returns: Whether the key had a value.
  @inlinable
  func existed(inTier isInTier: Bool) -> Bool {
    switch edits {
    case .unedited: isInTier
    case .shown: true
    case .removed: false
    }
  }
}
