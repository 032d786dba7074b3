public import CMemoryHints
public import Synchronization

/// A hash table of entries: groups of eight slots, each with a byte that says what is in it.
///
/// A look-up hashes once, for shard, group and byte. It reads eight control bytes (a million entries have a megabyte
/// of them, so that they stay near the processor), and then the one slot whose byte matches: one line of memory, found
/// without following a pointer. Of its group's slots a key takes its favourite, or the one in the same line, where it
/// can: that line is fetched ahead, while the control bytes still are. What only eviction needs is kept apart: with
/// 64-bit keys and values a slot has 32 bytes, with strings as keys 64, and never crosses a line.
///
/// After Google's Swiss tables, with their word-at-a-time matching. The number of groups need not be a power of two, so
/// that growth by a quarter keeps the table at least two thirds as full as it may be.
///
/// Guarded by its shard's lock; frequencies are counted by all who share it. O(1) each, amortised over growth.
@safe
@usableFromInline
struct SlotTable<Key: Hashable & Sendable, Value: Sendable>: ~Copyable {
  /// What a slot has behind its key: the entry, and the entry's use. In this order there is no gap between the two.
  @usableFromInline
  struct Content {
    @usableFromInline var entry: Entry<Value>
    @usableFromInline var use = EvictionUse()

    @inlinable
    init(entry: Entry<Value>) {
      self.entry = entry
    }
  }

  /// What was taken out, to be let go of outside the lock.
  @usableFromInline
  struct Taken {
    /// Nil where the slot's own memory is all that the key has, and where it stays.
    @usableFromInline let key: Key?
    @usableFromInline let entry: Entry<Value>

    @inlinable
    init(key: consuming Key?, entry: consuming Entry<Value>) {
      self.key = key
      self.entry = entry
    }
  }

  // The control bytes, a word for each group; the slots, of which those are initialised whose control byte says so; and
  // their nodes. All three owned, for `groupCount` groups. A table without slots has one group of control bytes, which is
  // everybody's: it says that nothing is there, and is never written, because none of its slots may be taken.
  @usableFromInline var controls: UnsafeMutablePointer<UInt64>
  @usableFromInline var slots: UnsafeMutableRawPointer
  @usableFromInline var nodes: UnsafeMutablePointer<EvictionNode>
  // Of four bytes each, so that all that a hit reads of a shard lies in one line of memory.
  @usableFromInline var groups: UInt32
  @usableFromInline var emptySlotsLeft: UInt32
  @usableFromInline var entries: UInt32 = 0

  @inlinable
  var groupCount: Int { Int(groups) }

  /// Empty slots that may still be taken before the table has to be rebuilt.
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
    // Aligned to lines of memory, so that a slot of 32 or 64 bytes lies in one.
    unsafe slots = .allocate(byteCount: slotCount * Self.stride, alignment: 64)
    unsafe nodes = .allocate(capacity: slotCount)
    // Slots have numbers of four bytes, too.
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
        nodes: nodes, controls: controls, groupCount: groupCount, slots: slots, slotStride: Self.stride,
        useOffset: Self.contentOffset + Self.offset(of: \.use), owner: self)
    }
  }

  /// The slot of a key; nil where it has none. Only the key's `==` runs.
  @inlinable
  @inline(__always)
  func find(_ key: Key, fingerprint: UInt32) -> SlotNumber? {
    let pattern = ControlWord.pattern(fingerprint)
    var group = homeGroup(fingerprint)
    // Most keys are there: the line is on its way while the control word, which says so, still is.
    unsafe cistern_prefetch(slots + (group &* 8 &+ Self.favouriteOffset(fingerprint)) &* Self.stride)
    while true {
      let word = unsafe controls[group]
      var matches = ControlWord.matches(word, pattern)
      while matches != 0 {
        let number = SlotNumber(UInt32(truncatingIfNeeded: group &* 8 &+ matches.trailingZeroBitCount &>> 3))
        if keyPlace(number).holds(key) { return number }
        matches &= matches &- 1
      }
      // A key goes past a group only while that has no empty slot.
      if ControlWord.empty(word) != 0 { return nil }
      group = group &+ 1 == groupCount ? 0 : group &+ 1
    }
  }

  /// Where the search for a key begins.
  @inlinable
  func homeGroup(_ fingerprint: UInt32) -> Int {
    Int(truncatingIfNeeded: (UInt64(fingerprint) &* UInt64(truncatingIfNeeded: groupCount)) &>> 32)
  }

  /// The slot of its home group that a key is put in where that is free.
  @inlinable
  static func favouriteOffset(_ fingerprint: UInt32) -> Int {
    // Bits that decide neither the group nor the control byte.
    Int(truncatingIfNeeded: (fingerprint &>> 7) & 7)
  }

  /// The slot of an entry that is in the table.
  @inlinable
  subscript(number: SlotNumber) -> Content {
    // The number comes from `find`, `insert` or the policy, so the slot is initialised.
    _read { yield unsafe content(number).pointee }
    _modify { yield unsafe &content(number).pointee }
  }

  /// The key of an entry that is in the table. A string whose bytes are in the slot is made anew.
  @inlinable
  func key(of number: SlotNumber) -> Key { keyPlace(number).key }

  /// Puts an entry in the place of one that is in the table, which is the caller's then.
  @inlinable
  @inline(__always)
  mutating func exchangeEntry(_ number: SlotNumber, _ entry: Entry<Value>) -> Entry<Value> {
    // Moved, not copied: no references are counted. The slot is initialised before and after.
    let place = unsafe part(\.entry, of: number, as: Entry<Value>.self)
    let replaced = unsafe place.move()
    unsafe place.initialize(to: entry)
    return replaced
  }

  /// The node of an entry that is in the table.
  @inlinable
  subscript(node number: SlotNumber) -> EvictionNode {
    get { unsafe nodes[number.index] }
    _modify { yield unsafe &nodes[number.index] }
  }

  /// Adds one to an entry's frequency up to a maximum, among others that do so at the same time: one of two may be lost.
  @inlinable
  @inline(__always)
  borrowing func countUse(_ number: SlotNumber, upTo maximum: UInt8) {
    // The byte of a number that is an entry's, as an atomic, which has the same layout. Whoever uses it as a plain byte has
    // the shard alone.
    let frequency = unsafe part(\.use.frequency, of: number, as: Atomic<UInt8>.self)
    let before = unsafe frequency.pointee.load(ordering: .relaxed)
    if before < maximum { unsafe frequency.pointee.store(before &+ 1, ordering: .relaxed) }
  }

  /// Whether the table has to be rebuilt before the next insertion: ``rebuild()``.
  @inlinable
  var isFull: Bool { emptyLeft == 0 }

  /// Adds an entry for a key that has none, to a table that is not full.
  @inlinable
  mutating func insert(_ key: Key, fingerprint: UInt32, entry: consuming Entry<Value>) -> SlotNumber {
    let number = takeSlot(fingerprint)
    keyPlace(number).initialize(to: key)
    unsafe content(number).initialize(to: Content(entry: entry))
    unsafe (nodes + number.index).initialize(to: EvictionNode(fingerprint: fingerprint))
    count += 1
    return number
  }

  /// Takes an entry out; its parts are the caller's, to let go of outside the lock.
  @inlinable
  mutating func remove(_ number: SlotNumber) -> Taken {
    // Moved from where it is: as a part of the content it would be copied. The use that stays behind needs no end.
    let entry = unsafe part(\.entry, of: number, as: Entry<Value>.self).move()
    let taken = Taken(key: keyPlace(number).take(), entry: entry)
    freeSlot(number)
    count -= 1
    return taken
  }

  /// The numbers of the entries in some groups.
  @inlinable
  func numbers(inGroups groups: Range<Int>) -> [SlotNumber] {
    groups.flatMap { group in
      // In bounds: the caller's groups are the table's.
      ControlWord.full(unsafe controls[group]).map { SlotNumber(UInt32(group &* 8 + $0)) }
    }
  }

  /// Visits every entry.
  func forEach(_ body: (SlotNumber, borrowing Content, EvictionNode) -> Void) {
    for group in 0..<groupCount {
      for offset in ControlWord.full(unsafe controls[group]) {
        let number = SlotNumber(UInt32(group &* 8 + offset))
        body(number, self[number], self[node: number])
      }
    }
  }
}

/// The memory of all tables without slots, so that emptying one allocates nothing.
@usableFromInline
enum SlotTableWithoutSlots {
  // Sendable holds: it is initialised before anyone has it, and never written then.
  @usableFromInline
  nonisolated(unsafe) static let controls: UnsafeMutablePointer<UInt64> = {
    let controls = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
    unsafe controls.initialize(to: ControlWord.allEmpty)
    return unsafe controls
  }()
  /// Where no slot is: aligned, and never read.
  @usableFromInline
  nonisolated(unsafe) static let nothing = unsafe UnsafeMutableRawPointer(controls)
}
