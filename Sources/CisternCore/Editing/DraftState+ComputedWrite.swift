extension DraftState {
  /// The state of a key: its value in the draft is the same as long as this is.
  struct KeyState: Sendable, Equatable {
    /// The number of writes of the key.
    let count: DraftWriteCount
    /// The identity of the key's base. A save that keeps later writes changes it.
    let base: DraftBaseNumber?
  }

  /// The draft's own copies of a key that it forgets, and its base.
  struct ForgottenKey: Sendable {
    let counted: Key?
    let base: (key: Key, value: DraftBase<Value>)?
  }

  /// A write, and the value that the draft shows after it.
  struct ComputedWrite: Sendable {
    let key: Key
    /// The state of the key from which `shown` was computed.
    let keyState: KeyState
    let write: Write
    let shown: Value?
  }
}
