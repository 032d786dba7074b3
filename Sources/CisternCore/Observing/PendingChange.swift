/// A change that has no number yet.
@usableFromInline
package struct PendingChange<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let event: Change<Key, Value>.Event
  let previous: PreviousValue<Value>
  let tags: ChangeTags

  @usableFromInline
  package init(_ event: Change<Key, Value>.Event, previous: PreviousValue<Value> = .unknown, tags: ChangeTags = .none) {
    self.event = event
    self.previous = previous
    self.tags = tags
  }
}
