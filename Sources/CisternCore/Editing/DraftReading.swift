/// A confirmed value, without unconfirmed edits, as a draft reads it.
struct DraftReading<Value: Sendable>: Sendable {
  /// The value, or nil if the key is absent.
  let value: Value?
  /// The tags that the write of the value named.
  let tags: [String]
}
