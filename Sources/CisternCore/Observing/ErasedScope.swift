/// An ``ObservationScope`` with an erased key type.
enum ErasedScope: Sendable {
  case everything
  case keys([ErasedKey])
  case matching(@Sendable (ErasedKey) -> Bool)
  case tagged(String)

  init<Key>(_ scope: ObservationScope<Key>) {
    switch scope.selection {
    case .everything: self = .everything
    case .keys(let keys): self = .keys(keys.map(ErasedKey.init))
    case .tagged(let tag): self = .tagged(tag)
    case .matching(let matches): self = .matching { matches($0.key()) }
    }
  }
}
