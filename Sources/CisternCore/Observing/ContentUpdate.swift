/// An element of the contents of a scope: an initial entry, a change, or a new beginning.
///
/// A consumer that applies every element to a dictionary (``apply(to:)``) has the values of the scope.
public enum ContentUpdate<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// An entry that the cache has at the beginning.
  case initial(Key, Value)
  /// All initial entries were delivered.
  ///
  /// Changes of the time since the beginning may precede this element.
  case initialEnded
  /// A change of one key, which the elements before do not contain. A removal can concern a key that no element before
  /// has.
  case changed(Change<Key, Value>)
  /// The key has a value that is not in the scope. Only for ``ObservationScope/tagged(_:)``: the value does not have
  /// the tag.
  case left(Key)
  /// All elements before are void. The entries that are left follow, as initial entries, up to ``initialEnded``.
  ///
  /// The cause is ``Change/Event/cleared`` or ``Change/Event/invalidated(_:)``. Nil if the buffer was full.
  case restarted(cause: Change<Key, Value>?)
  /// The initial entries cannot be read, because the store is closed or its disk fails. This is the last element.
  case failed(CisternError)

  /// Applies the element to the contents that the elements before have made.
  ///
  /// - Parameter contents: The values of the scope, empty before the first element.
  public func apply(to contents: inout [Key: Value]) {
    switch self {
    case .initial(let key, let value):
      contents[key] = value
    case .left(let key):
      contents[key] = nil
    case .changed(let change):
      switch change.event {
      case .inserted(let key, let value), .updated(let key, let value): contents[key] = value
      case .removed(let key, _): contents[key] = nil
      case .cleared, .invalidated: contents = [:]
      }
    case .restarted:
      contents = [:]
    case .initialEnded, .failed:
      break
    }
  }
}
