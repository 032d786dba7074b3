/// The state of a key that a draft begins to watch, in the layer below.
struct SeenKey<Value: Sendable>: Sendable {
  /// The number of changes of the key.
  let version: VersionBelow
  /// The tags that the write of the value named. A value in grace counts. Empty for a key without a value.
  let tags: [String]
  /// The value, which may be in grace; nil if the key is absent, or in a cache without a comparison.
  var value: Value?
}
