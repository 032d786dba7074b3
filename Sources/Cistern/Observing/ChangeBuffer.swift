/// Changes that wait for their consumer, oldest first. A pure data structure; its owner has the lock.
///
/// It is filled under locks, where no value of a user's may be freed: what a newer change displaces is kept until it is
/// asked for, with ``takeDisplaced()``.
struct ChangeBuffer: Sendable {
  /// What is kept of the changes that nobody has consumed yet.
  enum Policy: Sendable, Equatable {
    /// All.
    case unbounded
    /// The newest of each key, in the place of the oldest: a key that changes all the time keeps its turn.
    case newestPerKey
    /// So many, at least one; the oldest goes.
    case bounded(Int)
  }

  private let policy: Policy
  /// From `head` on, the changes; before it, nothing any more.
  private var slots: [ErasedChange?] = []
  private var head = 0
  /// How many slots were cut off in front so far: positions count from the first slot that ever was.
  private var cut = 0
  /// Where the change of a key is. Only for the newest per key.
  private var positions: [ErasedKey: Int] = [:]
  private var displaced: [ErasedChange] = []

  init(_ policy: Policy) {
    self.policy = policy
  }

  var count: Int { slots.count - head }
  var isEmpty: Bool { count == 0 }
  var hasDisplaced: Bool { !displaced.isEmpty }

  /// Adds a change, and frees nothing.
  mutating func append(_ change: ErasedChange) {
    switch policy {
    case .unbounded:
      slots.append(change)
    case .bounded(let limit):
      while count >= max(1, limit), let oldest = popFirst() { displaced.append(oldest) }
      slots.append(change)
    case .newestPerKey:
      appendNewest(change)
    }
  }

  private mutating func appendNewest(_ change: ErasedChange) {
    guard let key = change.key else {
      // A key's newest change that comes after this one must not take the place of one before it.
      positions = [:]
      // What everything is cleared of needs no telling any more.
      if change.clears { while let oldest = popFirst() { displaced.append(oldest) } }
      slots.append(change)
      return
    }
    if let position = positions[key], let older = slots[position - cut] {
      // The older change's own key goes with it: nothing of its is kept here.
      positions[key] = nil
      positions[key] = position
      slots[position - cut] = change
      displaced.append(older)
    } else {
      positions[key] = cut + slots.count
      slots.append(change)
    }
  }

  /// Takes the oldest change out; nil when there is none.
  mutating func popFirst() -> ErasedChange? {
    guard head < slots.count, let change = slots[head].take() else { return nil }
    if policy == .newestPerKey, let key = change.key, positions[key] == cut + head { positions[key] = nil }
    head += 1
    // The slots before the head are empty, so that nothing of a user's is freed with them.
    if head == slots.count {
      cut += head
      slots.removeAll(keepingCapacity: slots.count <= 64)
      head = 0
    } else if head >= 64, head >= count {
      cut += head
      slots.removeFirst(head)
      head = 0
    }
    return change
  }

  /// Takes what newer changes displaced, for the caller to free where it may.
  mutating func takeDisplaced() -> [ErasedChange] {
    if displaced.isEmpty { return [] }
    defer { displaced = [] }
    return displaced
  }
}
