/// The values that were set for a key one after the other, in a cache that merges.
@usableFromInline
struct MergedWrites<Value: Sendable>: Sendable {
  /// Whether the key is removed first, so that the values are not merged with the cached one.
  @usableFromInline let replaces: Bool
  /// The values, oldest first. There is at least one.
  @usableFromInline private(set) var values: [Value]
  /// The write options of the merged value.
  @usableFromInline private(set) var writeOptions: WriteOptions

  @usableFromInline
  init(_ values: [Value], _ writeOptions: WriteOptions, replaces: Bool) {
    self.values = values
    self.writeOptions = writeOptions
    self.replaces = replaces
  }

  /// Adds later values.
  ///
  /// - Complexity: O(n) for n later values, on average.
  mutating func append(_ later: [Value], _ laterOptions: WriteOptions) {
    values += later
    writeOptions = laterOptions.keepingTags(of: writeOptions)
  }
}
