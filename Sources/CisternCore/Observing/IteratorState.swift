/// The state of a sequence's mailbox. A pure state machine, guarded by its owner's lock. A `Waiter` can be resumed
/// with a change, or with nil for the end.
enum IteratorState<Waiter: Sendable>: Sendable {
  /// No consumer waits.
  case open(ChangeBuffer)
  /// One or more consumers wait, the longest-waiting first; usually one. The buffer may contain changes that are
  /// about to be handed over.
  case waited([Waiter], ChangeBuffer)
  /// The cache was deinitialized. The consumer receives the remaining changes.
  case finishing(ChangeBuffer)
  /// The sequence was cancelled, abandoned or finished. This state is final.
  case ended

  /// The result of a request for the next change.
  enum Next {
    case change(ErasedChange)
    case end
    /// No change is available. The consumer must wait by ``wait(_:)``.
    case nothing
  }

  /// The work that the caller must do outside all locks.
  struct DeferredWork {
    var displaced: [ErasedChange] = []
    var changes: [(Waiter, ErasedChange)] = []
    var ends: [Waiter] = []
  }

  /// Appends a change. Returns whether the caller must call ``deliverDeferred()``.
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

  /// Returns the displaced changes, and assigns buffered changes to waiters.
  mutating func deliverDeferred() -> DeferredWork {
    var handover = DeferredWork()
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

  /// Returns the next change, if one is available to a new consumer.
  mutating func next() -> Next {
    switch take() {
    case .open(var buffer):
      let change = buffer.popFirst()
      self = .open(buffer)
      return change.map(Next.change) ?? .nothing
    case .waited(let waiters, let buffer):
      // The buffered changes belong to the consumers that already wait.
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

  /// Removes all changes, and keeps later ones by another policy. Does nothing while a consumer waits.
  ///
  /// - Returns: The removed changes, and the displaced ones, which the caller must release outside all locks.
  mutating func takeAll(continuingWith policy: ChangeBuffer.Policy) -> (
    changes: [ErasedChange], displaced: [ErasedChange]
  ) {
    var former: ChangeBuffer
    switch take() {
    case .open(let buffer):
      former = buffer
      self = .open(ChangeBuffer(policy))
    case .finishing(let buffer):
      former = buffer
      self = .finishing(ChangeBuffer(policy))
    case .waited(let waiters, let buffer):
      self = .waited(waiters, buffer)
      return ([], [])
    case .ended:
      return ([], [])
    }
    var changes: [ErasedChange] = []
    while let change = former.popFirst() { changes.append(change) }
    return (changes, former.takeDisplaced())
  }

  /// Adds a waiting consumer. Returns work that became necessary since the consumer's call of ``next()``.
  mutating func wait(_ waiter: Waiter) -> DeferredWork {
    switch take() {
    case .open(let buffer): self = .waited([waiter], buffer)
    case .waited(let waiters, let buffer): self = .waited(waiters + [waiter], buffer)
    case .finishing(var buffer):
      guard let change = buffer.popFirst() else { return DeferredWork(ends: [waiter]) }
      self = .finishing(buffer)
      return DeferredWork(changes: [(waiter, change)])
    case .ended:
      return DeferredWork(ends: [waiter])
    }
    return deliverDeferred()
  }

  /// Marks the cache as deinitialized. Waiters receive the remaining changes, and then the end.
  mutating func finish() -> DeferredWork {
    var handover = deliverDeferred()
    switch take() {
    case .open(let buffer), .finishing(let buffer): self = .finishing(buffer)
    case .waited(let waiters, _): handover.ends = waiters
    case .ended: break
    }
    return handover
  }

  /// Ends the sequence. The caller must release the returned state and resume its waiters outside all locks.
  mutating func end() -> IteratorState { take() }

  /// Moves the state out and leaves `ended`, so that its buffer has one owner and is changed in place.
  private mutating func take() -> IteratorState {
    defer { self = .ended }
    return self
  }
}
