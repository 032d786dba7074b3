/// The meaning of a change for the contents of a scope. Pure.
enum ContentChange<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// A key has another value in the scope.
  case written(Key, Change<Key, Value>)
  /// A key has no value.
  case removed(Key, Change<Key, Value>)
  /// A key has a value outside the scope.
  case left(Key, Change<Key, Value>)
  /// All keys of the scope lost their values.
  case endedAll(Change<Key, Value>)
  /// Some keys of the scope may have lost their values, and the change does not list them.
  case endedSome(Change<Key, Value>)
  /// The buffer lost changes.
  case lost

  /// Returns the meaning of a change that the observer of a scope received; nil if it does not concern the scope.
  init?(_ change: ErasedChange, in scope: ObservationScope<Key>) {
    if change.marksLoss {
      self = .lost
      return
    }
    let newTags = change.newTags
    let change = change.change(of: Change<Key, Value>.self)
    switch change.event {
    case .inserted(let key, _), .updated(let key, _):
      if case .tagged(let tag) = scope.selection, !newTags.contains(tag) {
        self = .left(key, change)
      } else {
        self = .written(key, change)
      }
    case .removed(let key, _):
      self = .removed(key, change)
    case .cleared:
      self = .endedAll(change)
    case .invalidated(let invalidation):
      switch scope.part(concernedBy: invalidation) {
      case .nothing: return nil
      case .some: self = .endedSome(change)
      case .all: self = .endedAll(change)
      }
    }
  }
}

extension ObservationScope {
  /// The part of a scope that an invalidation may concern.
  enum ConcernedPart: Sendable, Hashable {
    case nothing
    case some
    case all
  }

  /// Returns the part of the scope that an invalidation may concern. Visits no key.
  func part(concernedBy invalidation: Invalidation) -> ConcernedPart {
    switch (invalidation, selection) {
    case (.prefix([]), _):
      .all
    case (.prefix(let removed), .prefix(let observed, _)):
      observed.starts(with: removed) ? .all : removed.starts(with: observed) ? .some : .nothing
    case (.tag(let removed), .tagged(let observed)):
      removed == observed ? .all : .some
    case (.prefix, .everything), (.prefix, .keys), (.prefix, .tagged), (.tag, .everything), (.tag, .keys),
      (.tag, .prefix):
      .some
    }
  }
}
