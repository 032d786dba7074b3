/// A change that has no number yet.
@usableFromInline
package struct PendingChange<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let event: Change<Key, Value>.Event
  let previous: PreviousValue<Value>
  let tags: ChangeTags
  /// Whether it is a removal of all keys that replaces a removal by tag or prefix.
  let isWidened: Bool

  @usableFromInline
  package init(
    _ event: Change<Key, Value>.Event, previous: PreviousValue<Value> = .unknown, tags: ChangeTags = .none,
    isWidened: Bool = false
  ) {
    self.event = event
    self.previous = previous
    self.tags = tags
    self.isWidened = isWidened
  }
}
