/// A write of one key on its way into the tiers: weighed and encoded, outside all locks.
@usableFromInline
struct PreparedWrite<Key: Hashable & Sendable, Value: Sendable> {
  @usableFromInline typealias Edited = EditedKeys<Key, Value>.Edited

  @usableFromInline var intent: WriteIntent
  /// The write of memory.
  @usableFromInline var memoryWrite: MemoryWrite<Value>
  /// The write of the second tier; nil for none.
  @usableFromInline let tierWrite: StagedWrite?
  /// The key in the second tier; nil without one, and for a write that does not ask it. Made outside all locks by the
  /// user's code.
  @usableFromInline let keyBytes: [UInt8]?
  /// The record that the write may replace or remove; nil for any.
  @usableFromInline var recordCondition: RecordCondition?
  /// The read of a custom tier that found the value; nil for other writes.
  @usableFromInline var read: ComparedRead?
  /// The edits that show the value; nil for a write that is no edit.
  @usableFromInline var shownEdits: ShownEdits<Key, Value>?
  /// The writer, as given by the caller.
  @usableFromInline var context: WriterContext?

  @inlinable
  init(_ intent: WriteIntent, _ memoryWrite: MemoryWrite<Value>, tierWrite: StagedWrite?, keyBytes: [UInt8]?) {
    self.intent = intent
    self.memoryWrite = memoryWrite
    self.tierWrite = tierWrite
    self.keyBytes = keyBytes
  }

  /// Whether the write stores a record in the second tier.
  var storesRecord: Bool { if case .record? = tierWrite { true } else { false } }

  /// The lifetime and the tags of the stored value, which lies below the edits if there are some; nil for none.
  @usableFromInline var storedTiming: Timing? {
    guard let shownEdits else { return memoryWrite.preparedValue?.timing }
    return shownEdits.hasConfirmedValue ? shownEdits.edited.timing : nil
  }

  /// A write of a value that is set, is fetched, or is made of the cached one.
  @inlinable
  @inline(__always)
  init(_ value: EncodedValue<Value>, options: StoringOptions<Value>) {
    intent = .store(effect: options.effect, isAnnounced: options.isAnnounced)
    memoryWrite = MemoryWrite(value.preparedValue, if: options.condition)
    tierWrite = value.tierWrite
    keyBytes = value.tierWrite?.key
    context = options.context
  }

  /// A removal that a caller asks for.
  @inlinable
  init(
    removing keyBytes: [UInt8]?, if condition: WriteCondition<Value>, stagesAlways: Bool, context: WriterContext?
  ) {
    intent = .remove(stagesAlways: stagesAlways)
    memoryWrite = MemoryWrite(nil, if: condition)
    tierWrite = keyBytes.map { .removal(key: $0) }
    self.keyBytes = keyBytes
    self.context = context
  }
}
