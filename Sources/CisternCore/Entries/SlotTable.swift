public import CSupport
import Eviction
public import Synchronization

/// A hash table of entries, in groups of eight slots. Each slot has a control byte, which describes its content.
///
/// A look-up uses one hash for the shard, the group and the control byte. It reads the eight control bytes of a
/// group, and then only the slots whose byte matches. The control bytes are compact, so that they stay in the
/// processor's caches. A look-up finds a slot without following a pointer.
///
/// Each key has a preferred slot in its home group. An insertion takes that slot, or the other one in the same cache
/// line, if it is free. A look-up prefetches that line while it reads the control bytes. Data that only eviction
/// needs is stored separately. A slot has 32 bytes with 64-bit keys and values, and 64 bytes with strings as keys.
/// Such a slot is within one cache line.
///
/// The design follows Google's Swiss tables, with their word-at-a-time matching. The number of groups need not be a
/// power of two. Growth by a quarter keeps the table at least two thirds as full as it may be.
///
/// Guarded by its shard's lock, except for the frequencies, which all readers of the shard count.
///
/// - Complexity: O(1) for each operation, amortized over growth.
@safe
@usableFromInline
struct SlotTable<Key: Hashable & Sendable, Value: Sendable>: ~Copyable {
  /// The content of a slot after its key: the entry and its use. This order leaves no padding between the two.
  @usableFromInline
  struct Content {
    @usableFromInline var entry: Entry<Value>
    @usableFromInline var use = EvictionUse()

    @inlinable
    init(entry: Entry<Value>) {
      self.entry = entry
    }
  }

  /// A removed entry with its key, which the caller releases outside the lock.
  @usableFromInline
  struct RemovedEntry {
    /// Nil if the key was stored in the slot's own memory, so that nothing needs to be released.
    @usableFromInline let key: Key?
    @usableFromInline let entry: Entry<Value>

    @inlinable
    init(key: consuming Key?, entry: consuming Entry<Value>) {
      self.key = key
      self.entry = entry
    }
  }

  // The control bytes (one word for each group), the slots, and their nodes. A slot is initialized if its control
  // byte says that it holds a key. This table owns all three, for `groupCount` groups.
  //
  // A table without slots has one group of control bytes, which all such tables share. That group says that every
  // slot is empty. It is never written, because none of its slots may be taken.
  @usableFromInline var controls: UnsafeMutablePointer<UInt64>
  @usableFromInline var slots: UnsafeMutableRawPointer
  @usableFromInline var nodes: UnsafeMutablePointer<EvictionNode>
  // Four bytes each, so that all fields that a hit reads of a shard share one cache line.
  @usableFromInline var groups: UInt32
  @usableFromInline var emptySlotsLeft: UInt32
  @usableFromInline var entries: UInt32 = 0

  @inlinable
  var groupCount: Int { Int(groups) }

  /// The number of empty slots that may be taken before the table must be rebuilt.
  @inlinable
  var emptyLeft: Int {
    get { Int(emptySlotsLeft) }
    set { emptySlotsLeft = UInt32(newValue) }
  }

  /// The number of entries.
  @inlinable
  var count: Int {
    get { Int(entries) }
    set { entries = UInt32(newValue) }
  }

  @inlinable
  init() {
    unsafe controls = SlotTableWithoutSlots.controls
    unsafe slots = SlotTableWithoutSlots.nothing
    unsafe nodes = SlotTableWithoutSlots.nothing.assumingMemoryBound(to: EvictionNode.self)
    groups = 1
    emptySlotsLeft = 0
  }

  @inlinable
  init(groupCount: Int) {
    let slotCount = groupCount * 8
    unsafe controls = .allocate(capacity: groupCount)
    unsafe controls.initialize(repeating: ControlWord.allEmpty, count: groupCount)
    // Aligned to cache lines, so that a slot of 32 or 64 bytes is within one line.
    unsafe slots = .allocate(byteCount: slotCount * Self.stride, alignment: 64)
    unsafe nodes = .allocate(capacity: slotCount)
    // The number fits, because slot numbers have four bytes too.
    groups = UInt32(groupCount)
    emptySlotsLeft = UInt32(slotCount * 13 / 16)
  }

  @inlinable
  deinit {
    guard unsafe controls != SlotTableWithoutSlots.controls else { return }
    for group in 0..<groupCount {
      for offset in ControlWord.full(unsafe controls[group]) {
        let number = SlotNumber(UInt32(truncatingIfNeeded: group &* 8 &+ offset))
        keyPlace(number).deinitialize()
        unsafe content(number).deinitialize(count: 1)
      }
    }
    unsafe slots.deallocate()
    unsafe nodes.deallocate()
    unsafe controls.deallocate()
  }

  /// The nodes of all slots, for the eviction policy.
  @inlinable
  var evictionNodes: EvictionNodes {
    @_lifetime(borrow self)
    borrowing get {
      unsafe EvictionNodes(
        nodes: nodes, controls: controls, groupCount: groupCount,
        uses: EvictionUses(
          slots: slots, stride: Self.stride, offset: Self.contentOffset + Self.offset(of: \.use)),
        owner: self)
    }
  }

  /// Returns the slot of a key; nil if the key has none. Runs no user code except the key's `==`.
  @inlinable
  @inline(__always)
  func find(_ key: Key, fingerprint: UInt32) -> SlotNumber? {
    let pattern = ControlWord.pattern(fingerprint)
    var group = homeGroup(fingerprint)
    // Most keys are in their preferred slot. The processor loads its line while it waits for the control word.
    unsafe cistern_prefetch(slots + (group &* 8 &+ Self.preferredOffset(fingerprint)) &* Self.stride)
    while true {
      let word = unsafe controls[group]
      var matches = ControlWord.matches(word, pattern)
      while matches != 0 {
        let number = SlotNumber(UInt32(truncatingIfNeeded: group &* 8 &+ matches.trailingZeroBitCount &>> 3))
        if keyPlace(number).holds(key) { return number }
        matches &= matches &- 1
      }
      // A key is stored past a group only if that group had no empty slot. ``freeSlot(_:)`` creates none in such a
      // group.
      if ControlWord.empty(word) != 0 { return nil }
      group = group &+ 1 == groupCount ? 0 : group &+ 1
    }
  }

  /// Returns the index of the group at which the search for a key begins.
  @inlinable
  func homeGroup(_ fingerprint: UInt32) -> Int {
    Int(truncatingIfNeeded: (UInt64(fingerprint) &* UInt64(truncatingIfNeeded: groupCount)) &>> 32)
  }

  /// Returns the offset of a key's preferred slot in its home group.
  @inlinable
  static func preferredOffset(_ fingerprint: UInt32) -> Int {
    // These bits select neither the group nor the control byte.
    Int(truncatingIfNeeded: (fingerprint &>> 7) & 7)
  }

  /// The content of an occupied slot.
  @inlinable
  subscript(number: SlotNumber) -> Content {
    // The number comes from `find`, `insert` or the policy, so the slot is initialized.
    _read { yield unsafe content(number).pointee }
    _modify { yield unsafe &content(number).pointee }
  }

  /// Returns the key of an occupied slot. Creates a new string if the slot stores the string's bytes.
  @inlinable
  func key(of number: SlotNumber) -> Key { keyPlace(number).key }

  /// Replaces the entry of an occupied slot, and returns the former entry.
  @inlinable
  @inline(__always)
  mutating func exchangeEntry(_ number: SlotNumber, _ entry: Entry<Value>) -> Entry<Value> {
    // The entries are moved, not copied, so that no references are counted. The slot is initialized before and after.
    let place = unsafe part(\.entry, of: number, as: Entry<Value>.self)
    let replaced = unsafe place.move()
    unsafe place.initialize(to: entry)
    return replaced
  }

  /// The node of an occupied slot.
  @inlinable
  subscript(node number: SlotNumber) -> EvictionNode {
    get { unsafe nodes[number.index] }
    _modify { yield unsafe &nodes[number.index] }
  }

  /// Increments an entry's frequency up to a maximum. Several threads may do so at once; an increment may be lost.
  @inlinable
  @inline(__always)
  borrowing func countUse(_ number: SlotNumber, upTo maximum: UInt8) {
    // `Atomic<UInt8>` has the layout of the byte. Code that accesses the byte without atomics has the shard
    // exclusively.
    let frequency = unsafe part(\.use.frequency, of: number, as: Atomic<UInt8>.self)
    let before = unsafe frequency.pointee.load(ordering: .relaxed)
    if before < maximum { unsafe frequency.pointee.store(before &+ 1, ordering: .relaxed) }
  }

  /// Whether the table must be rebuilt before the next insertion, with ``rebuild(relinking:)``.
  @inlinable
  var isFull: Bool { emptyLeft == 0 }

  /// Inserts an entry for a key without an entry. The table must not be full.
  @inlinable
  mutating func insert(_ key: Key, fingerprint: UInt32, entry: consuming Entry<Value>) -> SlotNumber {
    let number = takeSlot(fingerprint)
    keyPlace(number).initialize(to: key)
    unsafe content(number).initialize(to: Content(entry: entry))
    unsafe (nodes + number.index).initialize(to: EvictionNode(fingerprint: fingerprint))
    count += 1
    return number
  }

  /// Removes an entry. The caller releases it outside the lock.
  @inlinable
  mutating func remove(_ number: SlotNumber) -> RemovedEntry {
    // Moved from its field: a move out of the whole content would copy it. The use left behind needs no
    // deinitialization.
    let entry = unsafe part(\.entry, of: number, as: Entry<Value>.self).move()
    let taken = RemovedEntry(key: keyPlace(number).take(), entry: entry)
    freeSlot(number)
    count -= 1
    return taken
  }

  /// Returns the numbers of the entries in a range of groups.
  @inlinable
  func numbers(inGroups groups: Range<Int>) -> [SlotNumber] {
    groups.flatMap { group in
      // In bounds: the caller's groups are groups of this table.
      ControlWord.full(unsafe controls[group]).map { SlotNumber(UInt32(group &* 8 + $0)) }
    }
  }

  /// Calls `body` with every entry.
  func forEach(_ body: (SlotNumber, borrowing Content, EvictionNode) -> Void) {
    for group in 0..<groupCount {
      for offset in ControlWord.full(unsafe controls[group]) {
        let number = SlotNumber(UInt32(group &* 8 + offset))
        body(number, self[number], self[node: number])
      }
    }
  }
}

/// The memory that all tables without slots share, so that emptying a table allocates nothing.
@usableFromInline
enum SlotTableWithoutSlots {
  // Sendable holds: the memory is initialized before its first use and never written afterwards.
  @usableFromInline
  nonisolated(unsafe) static let controls: UnsafeMutablePointer<UInt64> = {
    let controls = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
    unsafe controls.initialize(to: ControlWord.allEmpty)
    return unsafe controls
  }()
  /// The address of the slots of a table without slots. It is aligned, and never read.
  @usableFromInline
  nonisolated(unsafe) static let nothing = unsafe UnsafeMutableRawPointer(controls)
}
