/// A change and its key, or a set of changes, whose types are forgotten.
///
/// All that happens between ``ObserverRegistry/record(_:)`` and an observer is done with these, in code that is not
/// generic: called with types of other modules, generic code would not be specialised, and would spend more time on
/// looking up metadata than on its work. And all mailboxes share the one change.
struct ErasedChange: Sendable {
  /// Nil where every key changed, and for a set.
  let key: ErasedKey?
  /// Whether nothing that was told before matters any more: every key lost its value.
  let clears: Bool
  /// What was invalidated; nil for any other change, and for a set.
  let invalidation: Invalidation?
  /// The tags of the values before and after it.
  let tags: [String]
  private let box: any AnyObject & Sendable

  init<Key, Value>(_ change: Change<Key, Value>, tags: [String] = []) {
    self.tags = tags
    key = change.key.map(ErasedKey.init)
    clears = if case .cleared = change.event { true } else { false }
    invalidation = if case .invalidated(let what) = change.event { what } else { nil }
    box = ChangeBox(change)
  }

  init<Key, Value>(_ changeSet: ChangeSet<Key, Value>) {
    key = nil
    clears = false
    invalidation = nil
    tags = []
    box = ChangeSetBox(changeSet)
  }

  /// The set of changes. It must be one, and its types those that it was made with.
  func changeSet<Key, Value>(of type: ChangeSet<Key, Value>.Type = ChangeSet<Key, Value>.self) -> ChangeSet<Key, Value>
  {
    // A registry gives sets of its own types, and nothing else, to those who observe sets.
    unsafe unsafeDowncast(box, to: ChangeSetBox<Key, Value>.self).changeSet
  }

  /// The change. It must be one, and its types be those that it was made with.
  func change<Key, Value>(of type: Change<Key, Value>.Type = Change<Key, Value>.self) -> Change<Key, Value> {
    // A registry makes changes of its own types only, and its observers come from nowhere else.
    unsafe unsafeDowncast(box, to: ChangeBox<Key, Value>.self).change
  }
}

private final class ChangeBox<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let change: Change<Key, Value>

  init(_ change: Change<Key, Value>) {
    self.change = change
  }
}

private final class ChangeSetBox<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let changeSet: ChangeSet<Key, Value>

  init(_ changeSet: ChangeSet<Key, Value>) {
    self.changeSet = changeSet
  }
}
