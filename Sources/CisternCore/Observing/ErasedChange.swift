/// A change and its key, a change set, or an event of a cache, with erased types.
///
/// All code between ``ObserverRegistry/record(_:context:)`` and an observer uses this type and is not generic.
/// Generic code that is called with types of other modules is not specialized, and spends most of its time on
/// metadata. All mailboxes share the same change object.
struct ErasedChange: Sendable {
  /// The changed key; nil if many keys changed, and for a change set or an event.
  let key: ErasedKey?
  /// Whether all keys lost their values, which makes all earlier changes obsolete.
  let clears: Bool
  /// The invalidation; nil for anything else.
  let invalidation: Invalidation?
  /// The tags of the values before and after the change.
  let tags: [String]
  /// The tags of the value after the change.
  let newTags: [String]
  /// Whether the key had a value whose tags are not known.
  let hidesFormerTags: Bool
  /// Whether the object marks a place where a buffer lost changes. Such an object contains nothing else.
  let marksLoss: Bool
  /// The previous value of the key.
  private(set) var previous: ErasedPreviousValue
  /// Whether consumers may not see the previous value, because they cannot know that the key had it.
  private(set) var hidesPrevious = false
  private let box: any AnyObject & Sendable

  init<Key, Value>(_ change: Change<Key, Value>, tags: ChangeTags = .none) {
    self.tags = tags.all
    newTags = tags.new
    hidesFormerTags = if case .inserted = change.event { false } else { tags.former == nil }
    marksLoss = false
    key = change.key.map(ErasedKey.init)
    clears = if case .cleared = change.event { true } else { false }
    invalidation = if case .invalidated(let scope) = change.event { scope } else { nil }
    previous = ErasedPreviousValue(change.previous)
    // The box does not keep the previous value, which a buffer may replace.
    var withoutPrevious = change
    withoutPrevious.previous = .unknown
    box = ChangeBox(withoutPrevious)
  }

  /// The tags of the value before the change, as far as they are known.
  var formerTags: ArraySlice<String> { tags.dropLast(newTags.count) }

  init<Key, Value>(_ changeSet: ChangeSet<Key, Value>) {
    self.init(boxing: ChangeSetBox(changeSet))
  }

  init<Key>(_ event: CacheEvent<Key>) {
    self.init(boxing: EventBox(event))
  }

  private init(boxing box: any AnyObject & Sendable, marksLoss: Bool = false) {
    key = nil
    clears = false
    invalidation = nil
    tags = []
    newTags = []
    hidesFormerTags = false
    self.marksLoss = marksLoss
    previous = .unknown
    self.box = box
  }

  /// The mark of lost changes.
  static let loss = ErasedChange(boxing: LossBox(), marksLoss: true)

  /// Returns the event. This object must contain an event with keys of this type.
  func event<Key>(of type: CacheEvent<Key>.Type = CacheEvent<Key>.self) -> CacheEvent<Key> {
    // Safe because an event registry passes only events with its own type of keys to its mailboxes.
    unsafe unsafeDowncast(box, to: EventBox<Key>.self).event
  }

  /// Returns the change set. This object must contain a change set of these types.
  func changeSet<Key, Value>(of type: ChangeSet<Key, Value>.Type = ChangeSet<Key, Value>.self) -> ChangeSet<Key, Value>
  {
    // Safe because a registry passes only change sets with its own types to observers of change sets.
    unsafe unsafeDowncast(box, to: ChangeSetBox<Key, Value>.self).changeSet
  }

  /// Returns the change. This object must contain a change of these types.
  func change<Key, Value>(of type: Change<Key, Value>.Type = Change<Key, Value>.self) -> Change<Key, Value> {
    // Safe because a registry creates only changes with its own types, and its observers receive changes from no
    // other source.
    var change = unsafe unsafeDowncast(box, to: ChangeBox<Key, Value>.self).change
    change.previous = hidesPrevious ? .unknown : previous.previous()
    return change
  }

  /// Returns this change as it follows `older`, which no consumer receives: with the previous value of the older one.
  ///
  /// - Parameters:
  ///   - older: The older change.
  ///   - isSeparated: Whether a removal of many keys is between them. The consumer's value before is then not known.
  /// - Returns: The change.
  func replacing(_ older: ErasedChange, isSeparated: Bool) -> ErasedChange {
    var merged = self
    merged.previous = older.previous
    merged.hidesPrevious = isSeparated || older.hidesPrevious
    return merged
  }

  /// Returns this change without a known previous value. Keeps the value, because a buffer must not release one under a
  /// lock.
  func hidingPrevious() -> ErasedChange {
    var change = self
    change.hidesPrevious = true
    return change
  }
}

private final class ChangeBox<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let change: Change<Key, Value>

  init(_ change: Change<Key, Value>) {
    self.change = change
  }
}

private final class EventBox<Key: Hashable & Sendable>: Sendable {
  let event: CacheEvent<Key>

  init(_ event: CacheEvent<Key>) {
    self.event = event
  }
}

private final class ChangeSetBox<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let changeSet: ChangeSet<Key, Value>

  init(_ changeSet: ChangeSet<Key, Value>) {
    self.changeSet = changeSet
  }
}

private final class LossBox: Sendable {}
