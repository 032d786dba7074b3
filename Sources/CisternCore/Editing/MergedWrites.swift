/// The values that were set for a key one after the other, in a cache that merges.
@usableFromInline
struct MergedWrites<Value: Sendable>: Sendable {
  /// Whether the key is removed first, so that the values are not merged with the cached one.
  @usableFromInline let replaces: Bool
  /// The values, oldest first. There is at least one.
  @usableFromInline let values: [Value]
  /// The write options of the merged value.
  @usableFromInline let writeOptions: WriteOptions

  @usableFromInline
  init(_ values: [Value], _ writeOptions: WriteOptions, replaces: Bool) {
    self.values = values
    self.writeOptions = writeOptions
    self.replaces = replaces
  }

  /// Returns these values, followed by later ones.
  @usableFromInline
  func followed(by later: [Value], _ writeOptions: WriteOptions) -> MergedWrites {
    MergedWrites(values + later, writeOptions.keepingTags(of: self.writeOptions), replaces: replaces)
  }
}
