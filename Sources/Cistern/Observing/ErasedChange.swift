/// A change and its key, whose types are forgotten.
///
/// All that happens between ``ObserverRegistry/record(_:)`` and an observer is done with these, in code that is not
/// generic: called with types of other modules, generic code would not be specialised, and would spend more time on
/// looking up metadata than on its work. And all mailboxes share the one change.
struct ErasedChange: Sendable {
  /// Nil where every key changed.
  let key: ErasedKey?
  private let box: any AnyObject & Sendable

  init<Key, Value>(_ change: Change<Key, Value>) {
    key = change.key.map(ErasedKey.init)
    box = ChangeBox(change)
  }

  /// The change. Its types must be those that it was made with.
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
