/// The layer below after the save of one key.
struct SavedKey: Sendable {
  /// The number of changes of the key.
  var version: VersionBelow
  /// The tags that the write of the value named.
  var tags: [String]
  /// Whether the value below is the one that the draft showed before the save. False if the policy resolved a conflict
  /// otherwise.
  var isOwn = false
}
