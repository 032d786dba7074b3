/// A value as a draft reads it: the confirmed one, without unconfirmed edits.
struct DraftReading<Value: Sendable>: Sendable {
  /// The value; nil for none.
  let value: Value?
  /// The tags that were named when it was stored.
  let tags: [String]
}

/// How a key was below a draft when the draft first saw it.
struct DraftBase<Value: Sendable>: Sendable {
  /// The count of changes below. Changes since then are in conflict with what the draft writes.
  var version: UInt64
  /// The value below at that count, where it is known. A later value would conceal a conflict.
  var baseline: DraftReading<Value>?
  /// The value that the user first read.
  var read: DraftReading<Value>?
  /// How many drafts of this one have seen the key through it.
  var childCount = 0
  /// Whether this draft itself has read or written the key.
  var isOwn = false

  init(version: UInt64) {
    self.version = version
  }

  /// Whether nothing depends on it, beside what the draft writes.
  var isUnneeded: Bool { childCount == 0 && !isOwn }
}
