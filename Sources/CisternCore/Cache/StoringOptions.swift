/// The options of a write that stores a value.
@usableFromInline
struct StoringOptions<Value: Sendable> {
  @usableFromInline let condition: WriteCondition<Value>
  /// The meaning of the write for the writers and fetches that began before it.
  @usableFromInline var effect = WriteEffect.replacement
  /// Whether observers are notified that the key has the value. They are notified of a removal in any case.
  @usableFromInline var isAnnounced = true
  /// The writer, as given by the caller.
  @usableFromInline var context: WriterContext?

  @inlinable
  init(
    if condition: WriteCondition<Value>, effect: WriteEffect = .replacement, isAnnounced: Bool = true,
    context: WriterContext? = nil
  ) {
    self.condition = condition
    self.effect = effect
    self.isAnnounced = isAnnounced
    self.context = context
  }
}
