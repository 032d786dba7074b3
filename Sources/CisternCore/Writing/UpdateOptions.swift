/// The options of an edit of one key.
public struct UpdateOptions: Sendable {
  /// The lifetime of the new value; nil for that of the cache.
  public var expiry: Expiry?
  /// The tags of the new value, for ``Cache/removeAll(tagged:context:)``; nil for those of the value that it is made
  /// of.
  public var tags: [String]?
  /// The writer, for ``Change/context``.
  public var context: WriterContext?

  /// Creates the options.
  ///
  /// - Parameters:
  ///   - expiry: The lifetime of the new value, or nil for that of the cache.
  ///   - tags: The tags of the new value, or nil for those of the value that it is made of.
  ///   - context: The writer.
  public init(expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil) {
    self.expiry = expiry
    self.tags = tags
    self.context = context
  }
}
