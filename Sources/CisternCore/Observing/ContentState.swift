/// The decision which initial entries and changes the consumer of a scope's contents receives. A pure state machine,
/// guarded by its owner.
///
/// The owner registers for changes, enumerates, and reads the keys in groups. After each group, it takes all changes
/// from its buffer. A change that a read of the group contains is then among the taken ones. Later, every change of a
/// key that was read is newer than the read. The machine therefore keeps no numbers of earlier groups.
struct ContentState<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  typealias Update = ContentUpdate<Key, Value>

  /// The next step of the owner.
  enum Phase: Sendable, Hashable {
    /// The owner must discard the buffered changes, and begin an enumeration.
    case beginning
    /// The owner must read the next group of keys.
    case enumerating
    /// The owner must wait for changes.
    case following
  }

  /// A key of the enumeration, as the cache had it.
  struct Read: Sendable {
    let key: Key
    /// The value in the scope; nil for none.
    let value: Value?
    /// The number of the newest change that the read contains.
    let number: ChangeNumber
  }

  private(set) var phase = Phase.beginning
  /// The keys whose changes were delivered during the enumeration. Their later changes are delivered, too, so that they
  /// are not read.
  private var changedKeys: Set<Key> = []

  /// Notes that an enumeration begins.
  mutating func begin() {
    phase = .enumerating
    changedKeys = []
  }

  /// Whether the enumeration must read a key.
  func needs(_ key: Key) -> Bool { !changedKeys.contains(key) }

  /// Returns the elements after a group of reads.
  ///
  /// - Parameters:
  ///   - reads: The keys of the group that ``needs(_:)`` requires.
  ///   - changes: All changes that were buffered after these reads. If no invalidation is between them, a key has one
  ///     at most.
  ///   - isLast: Whether the enumeration has ended.
  /// - Returns: The elements.
  mutating func take(_ reads: [Read], _ changes: [ContentChange<Key, Value>], isLast: Bool) -> [Update] {
    var updates: [Update] = []
    var standing = reads
    var rest = changes[...]
    for (index, change) in changes.enumerated() {
      switch change {
      case .written, .removed, .left: break
      case .endedSome(let cause): return restart(by: cause)
      case .lost: return restart(by: nil)
      case .endedAll(let cause):
        updates = [.restarted(cause: cause)]
        standing = reads.filter { cause.changeNumber <= $0.number }
        rest = changes[(index + 1)...]
      }
    }
    for read in standing {
      if let value = read.value { updates.append(.initial(read.key, value)) }
    }
    let reads = Dictionary(standing.map { ($0.key, $0) }) { first, _ in first }
    for change in rest { append(change, unlessIn: reads, to: &updates) }
    if isLast {
      updates.append(.initialEnded)
      phase = .following
      changedKeys = []
    }
    return updates
  }

  private mutating func append(
    _ change: ContentChange<Key, Value>, unlessIn reads: [Key: Read], to updates: inout [Update]
  ) {
    switch change {
    case .written(let key, let change):
      if let read = reads[key], change.changeNumber <= read.number { return }
      changedKeys.insert(key)
      updates.append(.changed(reads[key].map { $0.followed(by: change) } ?? change))
    case .removed(let key, let change):
      if let read = reads[key], change.changeNumber <= read.number || !read.hasValue { return }
      changedKeys.insert(key)
      updates.append(.changed(reads[key].map { $0.followed(by: change) } ?? change))
    case .left(let key, let change):
      if let read = reads[key], change.changeNumber <= read.number || !read.hasValue { return }
      changedKeys.insert(key)
      updates.append(.left(key))
    case .endedAll, .endedSome, .lost:
      break
    }
  }

  /// Returns the elements for a change after the initial entries.
  mutating func take(_ change: ContentChange<Key, Value>) -> [Update] {
    switch change {
    case .written(_, let change), .removed(_, let change): [.changed(change)]
    case .left(let key, _): [.left(key)]
    case .endedAll(let cause): [.restarted(cause: cause), .initialEnded]
    case .endedSome(let cause): restart(by: cause)
    case .lost: restart(by: nil)
    }
  }

  private mutating func restart(by cause: Change<Key, Value>?) -> [Update] {
    phase = .beginning
    changedKeys = []
    return [.restarted(cause: cause)]
  }
}

extension ContentState.Read {
  var hasValue: Bool { value != nil }

  /// Returns a later change with the read value as the previous one. The buffer may have merged the change with one
  /// that the read contains.
  func followed(by change: Change<Key, Value>) -> Change<Key, Value> {
    var change = change
    change.previous = value.map { .value($0) } ?? .none
    return change
  }
}
