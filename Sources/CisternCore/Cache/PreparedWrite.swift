/// A write of one key on its way into the tiers: weighed and encoded, outside all locks.
@usableFromInline
struct PreparedWrite<Key: Hashable & Sendable, Value: Sendable> {
  @usableFromInline typealias Edited = EditedKeys<Key, Value>.Edited

  @usableFromInline var intent: WriteIntent
  /// The write of memory.
  @usableFromInline var entry: EntryWrite<Value>
  /// The write of the second tier; nil for none.
  @usableFromInline let staged: StagedWrite?
  /// The key in the second tier; nil without one, and for a write that does not ask it. Made outside all locks by the
  /// user's code.
  @usableFromInline let keyBytes: [UInt8]?
  /// The record that the write may replace or remove; nil for any.
  @usableFromInline var recordCondition: RecordCondition?
  /// The read of a user's tier that found the value; nil for other writes.
  @usableFromInline var read: ComparedRead?
  /// The edits that show the value; nil for a write that is no edit.
  @usableFromInline var edits: ShownEdits<Key, Value>?
  /// The writer, as given by the caller.
  @usableFromInline var context: WriterContext?

  @inlinable
  init(_ intent: WriteIntent, _ entry: EntryWrite<Value>, staged: StagedWrite?, keyBytes: [UInt8]?) {
    self.intent = intent
    self.entry = entry
    self.staged = staged
    self.keyBytes = keyBytes
  }

  /// Whether the write stores a record in the second tier.
  var storesRecord: Bool { if case .record? = staged { true } else { false } }

  /// The lifetime and the tags of the stored value, which lies below the edits if there are some; nil for none.
  @usableFromInline var storedTiming: Timing? {
    guard let edits else { return entry.preparedValue?.timing }
    return edits.hasConfirmedValue ? edits.edited.timing : nil
  }

  /// A write of a value that is set, is fetched, or is made of the cached one.
  @inlinable
  @inline(__always)
  init(_ value: EncodedValue<Value>, options: StoringOptions<Value>) {
    intent = .store(effect: options.effect, isAnnounced: options.isAnnounced)
    entry = EntryWrite(value.preparedValue, if: options.condition)
    staged = value.staged
    keyBytes = value.staged?.key
    context = options.context
  }

  /// A removal that a caller asks for.
  @inlinable
  init(
    removing keyBytes: [UInt8]?, if condition: WriteCondition<Value>, stagesAlways: Bool, context: WriterContext?
  ) {
    intent = .remove(stagesAlways: stagesAlways)
    entry = EntryWrite(nil, if: condition)
    staged = keyBytes.map { .removal(key: $0) }
    self.keyBytes = keyBytes
    self.context = context
  }
}

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

/// A value that is weighed and encoded.
@usableFromInline
struct EncodedValue<Value: Sendable>: Sendable {
  /// The value for memory; nil if its lifetime is zero, or its size is not known.
  @usableFromInline let preparedValue: PreparedValue<Value>?
  /// The key's record for the second tier, or its removal; nil without a second tier.
  @usableFromInline let staged: StagedWrite?
  /// The reason why the value cannot be on disk, if it could not be encoded.
  @usableFromInline let encodingError: (any Error)?

  @inlinable
  init(preparedValue: PreparedValue<Value>?, staged: StagedWrite?, encodingError: (any Error)?) {
    self.preparedValue = preparedValue
    self.staged = staged
    self.encodingError = encodingError
  }
}

/// The edits of a key after a write that changes their shown value. An object, because few writes have one.
@usableFromInline
final class ShownEdits<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let edited: EditedKeys<Key, Value>.Edited
  @usableFromInline let encodingError: (any Error)?

  @usableFromInline
  init(_ edited: EditedKeys<Key, Value>.Edited, encodingError: (any Error)?) {
    self.edited = edited
    self.encodingError = encodingError
  }

  /// The edits that are kept beside memory; nil if none is pending.
  @usableFromInline var kept: EditedKeys<Key, Value>.Edited? { edited.queue.isEmpty ? nil : edited }

  /// Whether the edits lie over a confirmed value.
  @usableFromInline var hasConfirmedValue: Bool { edited.queue.base != nil }
}
