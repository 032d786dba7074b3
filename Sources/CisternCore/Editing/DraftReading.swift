/// A confirmed value, without unconfirmed edits, as a draft reads it.
struct DraftReading<Value: Sendable>: Sendable {
  /// The value, or nil if the key is absent.
  let value: Value?
  /// The tags that the write of the value named.
  let tags: [String]
  /// The value, or one that is in grace. A comparison needs it, because expiry is no change.
  let usable: Value?

  init(value: Value?, tags: [String]) { self.init(value: value, tags: tags, usable: value) }

  init(value: Value?, tags: [String], usable: Value?) {
    self.value = value
    self.tags = tags
    self.usable = usable
  }
}
