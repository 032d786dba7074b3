/// The options of a dependent write.
@usableFromInline
struct ReplacementOptions: Sendable {
  @usableFromInline let writeOptions: WriteOptions
  @usableFromInline let effect: WriteEffect
  @usableFromInline let context: WriterContext?
  /// Whether the removal of an absent key is staged, too: an earlier removal may not be committed yet.
  @usableFromInline let stagesRemovals: Bool

  @inlinable
  init(
    _ writeOptions: WriteOptions, effect: WriteEffect = .replacement, context: WriterContext? = nil,
    stagesRemovals: Bool = false
  ) {
    self.writeOptions = writeOptions
    self.effect = effect
    self.context = context
    self.stagesRemovals = stagesRemovals
  }

  init(_ options: UpdateOptions) {
    self.init(WriteOptions(expiry: options.expiry, tags: options.tags), context: options.context)
  }
}
