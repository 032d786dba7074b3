/// The layer below after the save of one key.
struct SavedKey<Value: Sendable>: Sendable {
  /// The number of changes of the key.
  var version: VersionBelow
  /// The tags that the write of the value named.
  var tags: [String]
  /// The value; nil if the key is absent, or in a cache without a comparison.
  var value: Value?
  /// Whether the value below is the one that the draft showed before the save. False if the policy resolved a conflict
  /// otherwise.
  var isOwn = false
}
