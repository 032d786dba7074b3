/// An ``ObservationScope`` with an erased key type.
enum ErasedScope: Sendable {
  case everything
  case keys([ErasedKey])
  case matching(@Sendable (ErasedKey) -> Bool)
  case tagged(String)
  /// As `tagged`, with the changes of values whose former tags are not known.
  case contentsTagged(String)

  init<Key>(_ scope: ObservationScope<Key>) {
    switch scope.selection {
    case .everything: self = .everything
    case .keys(let keys): self = .keys(keys.map(ErasedKey.init))
    case .tagged(let tag): self = .tagged(tag)
    case .prefix(_, let matches): self = .matching { matches($0.key()) }
    }
  }

  /// Creates the scope of all changes that may concern the contents of an observation's scope.
  init<Key>(contentsOf scope: ObservationScope<Key>) {
    self = if case .tagged(let tag) = scope.selection { .contentsTagged(tag) } else { ErasedScope(scope) }
  }
}
