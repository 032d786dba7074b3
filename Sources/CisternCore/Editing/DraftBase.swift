/// The state of a key below a draft when the draft first used the key.
struct DraftBase<Value: Sendable>: Sendable {
  /// The identity of the base. It changes when the draft's write of the key is saved or discarded.
  var number = DraftBaseNumber.zero
  /// The number of changes below. A later change conflicts with the draft's write.
  var version: VersionBelow
  /// The tags of the value below at this version. A value in grace counts.
  var tags: [String]
  /// The value below at this version, which may be in grace; nil if the key was absent, or in a cache without a
  /// comparison. A value of a later version must not be stored here, because it would hide a conflict.
  var baseline: Value?
  /// The value that the user first read.
  var read: DraftReading<Value>?
  /// Whether the user has read another value than the baseline. If the value changes back, a comparison of values would
  /// hide that change.
  var hasReadChange = false
  /// The number of drafts of this one that use the key.
  var childCount = 0
  /// Whether this draft itself has read or written the key.
  var isOwn = false

  init(_ seen: SeenKey<Value>) {
    version = seen.version
    tags = seen.tags
    baseline = seen.value
  }

  /// Whether only a write of this draft can still need the base.
  var isUnneeded: Bool { childCount == 0 && !isOwn }
}
