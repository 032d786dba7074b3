/// Changes that wait for their consumer, oldest first. A pure data structure; its owner has the lock.
///
/// It is filled under locks, where no value of a user's may be freed: what a newer change displaces is kept until it is
/// asked for, with ``takeDisplaced()``.
struct ChangeBuffer: Sendable {
  /// What is kept of the changes that nobody has consumed yet.
  enum Policy: Sendable, Equatable {
    /// All.
    case unbounded
    /// The newest of each key, in the place of the oldest: a key that changes all the time keeps its turn. But none comes
    /// before an invalidation that it came after. The newest of each invalidation, in its own place.
    case newestPerKey
    /// So many, at least one; the oldest goes.
    case bounded(Int)
  }

  private let policy: Policy
  /// From `head` on, the changes, with gaps where one was moved; before it, nothing any more.
  private var slots: [ErasedChange?] = []
  private var head = 0
  /// How many slots were cut off in front so far: positions count from the first slot that ever was.
  private var cut = 0
  /// How many changes are there.
  private(set) var count = 0
  /// Where the change of a key is. Only for the newest per key.
  private var positions: [ErasedKey: Int] = [:]
  /// Where an invalidation is. Only for the newest per key.
  private var invalidations: [Invalidation: Int] = [:]
  /// Changes before it are older than an invalidation.
  private var newestInvalidation = 0
  private var displaced: [ErasedChange] = []

  init(_ policy: Policy) {
    self.policy = policy
  }

  var isEmpty: Bool { count == 0 }
  var hasDisplaced: Bool { !displaced.isEmpty }

  /// Adds a change, and frees nothing.
  mutating func append(_ change: ErasedChange) {
    switch policy {
    case .unbounded:
      push(change)
    case .bounded(let limit):
      while count >= max(1, limit), let oldest = popFirst() { displaced.append(oldest) }
      push(change)
    case .newestPerKey:
      appendNewest(change)
    }
  }

  private mutating func appendNewest(_ change: ErasedChange) {
    if change.clears {
      // What everything is cleared of needs no telling any more.
      while let oldest = popFirst() { displaced.append(oldest) }
      push(change)
    } else if let invalidation = change.invalidation {
      if let position = invalidations[invalidation] { displace(at: position) }
      newestInvalidation = push(change)
      invalidations[invalidation] = newestInvalidation
    } else if let key = change.key {
      appendNewest(change, of: key)
    } else {
      push(change)
    }
    if slots.count - head > 2 * count + 64 { closeGaps() }
  }

  private mutating func appendNewest(_ change: ErasedChange, of key: ErasedKey) {
    // The older change's own key goes with it: nothing of its is kept here.
    let position = positions.removeValue(forKey: key)
    if let position, position >= newestInvalidation, let older = slots[position - cut] {
      slots[position - cut] = change
      displaced.append(older)
      positions[key] = position
    } else {
      if let position { displace(at: position) }
      positions[key] = push(change)
    }
  }

  @discardableResult
  private mutating func push(_ change: ErasedChange) -> Int {
    slots.append(change)
    count += 1
    return cut + slots.count - 1
  }

  /// Leaves a gap.
  private mutating func displace(at position: Int) {
    guard let change = slots[position - cut].take() else { return }
    displaced.append(change)
    count -= 1
  }

  /// Takes the oldest change out; nil when there is none.
  mutating func popFirst() -> ErasedChange? {
    var popped: ErasedChange?
    while popped == nil, head < slots.count {
      popped = slots[head].take()
      head += 1
    }
    if let popped {
      count -= 1
      forget(popped, at: cut + head - 1)
    }
    // The slots before the head are empty, so that nothing of a user's is freed with them.
    if head == slots.count {
      cut += head
      slots.removeAll(keepingCapacity: slots.count <= 64)
      head = 0
    } else if head >= 64, head >= slots.count - head {
      cut += head
      slots.removeFirst(head)
      head = 0
    }
    return popped
  }

  private mutating func forget(_ change: ErasedChange, at position: Int) {
    guard policy == .newestPerKey else { return }
    if let key = change.key, positions[key] == position { positions[key] = nil }
    if let invalidation = change.invalidation, invalidations[invalidation] == position {
      invalidations[invalidation] = nil
    }
  }

  /// Moves the changes together, where most slots are gaps. O(n), once in as many additions.
  private mutating func closeGaps() {
    let base = cut + head
    var kept: [ErasedChange?] = []
    for index in head..<slots.count {
      guard let change = slots[index].take() else { continue }
      let (former, position) = (cut + index, base + kept.count)
      if former == newestInvalidation { newestInvalidation = position }
      if let key = change.key, positions[key] == former { positions[key] = position }
      if let invalidation = change.invalidation, invalidations[invalidation] == former {
        invalidations[invalidation] = position
      }
      kept.append(change)
    }
    slots = kept
    head = 0
    cut = base
  }

  /// Takes what newer changes displaced, for the caller to free where it may.
  mutating func takeDisplaced() -> [ErasedChange] {
    if displaced.isEmpty { return [] }
    defer { displaced = [] }
    return displaced
  }
}
