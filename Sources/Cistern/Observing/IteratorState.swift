/// What becomes of the changes that a sequence brings: pure, its owner has the lock. `Waiter` is whatever can be resumed
/// with a change, or with nil for the end.
enum IteratorState<Waiter: Sendable>: Sendable {
  /// Once made, until somebody waits.
  case open(ChangeBuffer)
  /// Once somebody found nothing and waits, until a change is handed over. Mostly it is one; the first has waited
  /// longest. There may be changes in the buffer, which have come and are about to be handed over.
  case waited([Waiter], ChangeBuffer)
  /// Once the cache is gone, until what is left has been taken.
  case finishing(ChangeBuffer)
  /// Once cancelled, abandoned or finished, for ever.
  case ended

  /// What a consumer that asks for the next change gets.
  enum Next {
    case change(ErasedChange)
    case end
    /// Nothing: it has to wait, with ``wait(_:)``.
    case nothing
  }

  /// What has to be done outside all locks.
  struct Handover {
    var displaced: [ErasedChange] = []
    var changes: [(Waiter, ErasedChange)] = []
    var ends: [Waiter] = []
  }

  /// Takes a change in; whether there is something to hand over.
  mutating func append(_ change: ErasedChange) -> Bool {
    switch take() {
    case .open(var buffer):
      buffer.append(change)
      let hasDisplaced = buffer.hasDisplaced
      self = .open(buffer)
      return hasDisplaced
    case .waited(let waiters, var buffer):
      buffer.append(change)
      self = .waited(waiters, buffer)
      return true
    case .finishing(let buffer):
      self = .finishing(buffer)
      return false
    case .ended:
      return false
    }
  }

  /// What is to be handed over.
  mutating func handOver() -> Handover {
    var handover = Handover()
    switch take() {
    case .open(var buffer):
      handover.displaced = buffer.takeDisplaced()
      self = .open(buffer)
    case .waited(var waiters, var buffer):
      handover.displaced = buffer.takeDisplaced()
      while let waiter = waiters.first, let change = buffer.popFirst() {
        waiters.removeFirst()
        handover.changes.append((waiter, change))
      }
      self = waiters.isEmpty ? .open(buffer) : .waited(waiters, buffer)
    case .finishing(var buffer):
      handover.displaced = buffer.takeDisplaced()
      self = .finishing(buffer)
    case .ended:
      break
    }
    return handover
  }

  /// The next change, if there is one now.
  mutating func next() -> Next {
    switch take() {
    case .open(var buffer):
      let change = buffer.popFirst()
      self = .open(buffer)
      return change.map(Next.change) ?? .nothing
    case .waited(let waiters, let buffer):
      // What is in the buffer belongs to those who came first.
      self = .waited(waiters, buffer)
      return .nothing
    case .finishing(var buffer):
      guard let change = buffer.popFirst() else { return .end }
      self = .finishing(buffer)
      return .change(change)
    case .ended:
      return .end
    }
  }

  /// Takes a consumer in that waits; what has to be handed over because something happened since it asked.
  mutating func wait(_ waiter: Waiter) -> Handover {
    switch take() {
    case .open(let buffer): self = .waited([waiter], buffer)
    case .waited(let waiters, let buffer): self = .waited(waiters + [waiter], buffer)
    case .finishing(var buffer):
      guard let change = buffer.popFirst() else { return Handover(ends: [waiter]) }
      self = .finishing(buffer)
      return Handover(changes: [(waiter, change)])
    case .ended:
      return Handover(ends: [waiter])
    }
    return handOver()
  }

  /// The cache is gone. Who waits gets what is left, and then the end.
  mutating func finish() -> Handover {
    var handover = handOver()
    switch take() {
    case .open(let buffer), .finishing(let buffer): self = .finishing(buffer)
    case .waited(let waiters, _): handover.ends = waiters
    case .ended: break
    }
    return handover
  }

  /// Ends; the former state is for the caller to free, and its waiters to resume, outside all locks.
  mutating func end() -> IteratorState { take() }

  /// Moves the state out, so that its buffer has one owner and is changed in place. Leaves `ended`.
  private mutating func take() -> IteratorState {
    defer { self = .ended }
    return self
  }
}
