/// A queue of changes that wait for their consumer, oldest first. A pure data structure, guarded by its owner's
/// lock.
///
/// The owner appends under locks, where no user value may be released. The buffer therefore retains displaced
/// changes until ``takeDisplaced()``.
struct ChangeBuffer: Sendable {
  /// The changes that the buffer keeps for its consumer.
  enum Policy: Sendable, Equatable {
    /// All changes.
    case unbounded
    /// The newest change of each key, and the newest change of each invalidation.
    ///
    /// The newest change of a key takes the position of the change that it replaces. A key that changes constantly
    /// therefore keeps its turn. However, a change never moves before an invalidation that precedes it. A repeated
    /// invalidation moves to the end.
    case newestPerKey
    /// The given number of changes, at least one. An additional change displaces the oldest.
    case bounded(Int)
    /// All changes up to the given number, at least one. An additional change displaces them all by the mark of a loss,
    /// which stands for all changes until the consumer takes it.
    case boundedByLoss(Int)
  }

  private let policy: Policy
  /// The changes, from index `head` on. A moved change leaves a gap. All slots before `head` are empty.
  private var slots: [ErasedChange?] = []
  private var head = 0
  /// The number of slots that were removed from the front so far. Positions count from the first slot ever
  /// appended.
  private var cut = 0
  /// The number of changes in the buffer.
  private(set) var count = 0
  /// The position of each key's change. Used only by the policy `newestPerKey`.
  private var positions: [ErasedKey: Int] = [:]
  /// The position of each invalidation. Used only by the policy `newestPerKey`.
  private var invalidations: [Invalidation: Int] = [:]
  /// The position of the newest invalidation. A change from before it is displaced by a newer change of its key,
  /// which goes to the end.
  private var newestInvalidation = 0
  /// The positions of changes that followed an invalidation which has moved to the end. Without it, their previous
  /// values do not follow from the changes before.
  private var uncertain = 0..<0
  private var displaced: [ErasedChange] = []
  /// Whether the buffer contains the mark of a loss, and nothing else. Used only by the policy `boundedByLoss`.
  private var hasLost = false

  init(_ policy: Policy) {
    self.policy = policy
  }

  var isEmpty: Bool { count == 0 }
  var hasDisplaced: Bool { !displaced.isEmpty }

  /// Appends a change. Releases no user value.
  mutating func append(_ change: ErasedChange) {
    switch policy {
    case .unbounded:
      push(change)
    case .bounded(let limit):
      while count >= max(1, limit), let oldest = popFirst() { displaced.append(oldest) }
      push(change)
    case .boundedByLoss(let limit):
      appendUnlessLost(change, limit: max(1, limit))
    case .newestPerKey:
      appendNewest(change)
    }
  }

  private mutating func appendUnlessLost(_ change: ErasedChange, limit: Int) {
    guard hasLost || count == limit else {
      push(change)
      return
    }
    displaced.append(change)
    if hasLost { return }
    while let oldest = popFirst() { displaced.append(oldest) }
    push(.loss)
    hasLost = true
  }

  private mutating func appendNewest(_ change: ErasedChange) {
    if change.clears {
      // A clear supersedes all earlier changes.
      while let oldest = popFirst() { displaced.append(oldest) }
      push(change)
    } else if let invalidation = change.invalidation {
      if let position = invalidations[invalidation] {
        displace(at: position)
        let isPending = !uncertain.isEmpty && uncertain.upperBound > cut + head
        uncertain = (isPending ? min(uncertain.lowerBound, position) : position)..<(cut + slots.count)
      }
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
    // The key of the older change is removed with it, so the buffer retains none of its memory.
    let position = positions.removeValue(forKey: key)
    if let position, position >= newestInvalidation, let older = slots[position - cut] {
      slots[position - cut] = change.replacing(older, isSeparated: false)
      displaced.append(older)
      positions[key] = position
    } else {
      let older = position.flatMap { slots[$0 - cut] }
      if let position { displace(at: position) }
      positions[key] = push(older.map { change.replacing($0, isSeparated: true) } ?? change)
    }
  }

  @discardableResult
  private mutating func push(_ change: ErasedChange) -> Int {
    slots.append(change)
    count += 1
    return cut + slots.count - 1
  }

  /// Removes the change at a position and leaves a gap.
  private mutating func displace(at position: Int) {
    guard let change = slots[position - cut].take() else { return }
    displaced.append(change)
    count -= 1
  }

  /// Removes and returns the oldest change; nil if the buffer is empty.
  mutating func popFirst() -> ErasedChange? {
    var popped: ErasedChange?
    while popped == nil, head < slots.count {
      popped = slots[head].take()
      head += 1
    }
    if let change = popped {
      count -= 1
      if change.marksLoss { hasLost = false }
      forget(change, at: cut + head - 1)
      if uncertain.contains(cut + head - 1) { popped = change.hidingPrevious() }
    }
    // The slots before `head` are empty, so their removal releases no user value.
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

  /// Removes the gaps when most slots are gaps. Takes O(*n*) time, once in *n* additions.
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
      kept.append(uncertain.contains(former) ? change.hidingPrevious() : change)
    }
    uncertain = 0..<0
    slots = kept
    head = 0
    cut = base
  }

  /// Returns the displaced changes and removes them. The caller releases them outside all locks.
  mutating func takeDisplaced() -> [ErasedChange] {
    if displaced.isEmpty { return [] }
    defer { displaced = [] }
    return displaced
  }
}
