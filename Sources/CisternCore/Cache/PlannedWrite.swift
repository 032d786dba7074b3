/// The planned write of one key in a batch or a draft.
@usableFromInline
struct PlannedWrite<Value: Sendable> {
  @usableFromInline let replacement: Replacement<Value>
  @usableFromInline let writeOptions: WriteOptions
  @usableFromInline let effect: WriteEffect

  @inlinable
  init(
    _ replacement: Replacement<Value>, _ writeOptions: WriteOptions = WriteOptions(), effect: WriteEffect = .replacement
  ) {
    self.replacement = replacement
    self.writeOptions = writeOptions
    self.effect = effect
  }
}
