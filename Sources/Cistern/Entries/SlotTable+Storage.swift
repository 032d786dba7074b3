extension SlotTable {
  /// Takes a free slot from the key's home on: where there is a choice its favourite, or the one in the same line.
  @inlinable
  mutating func takeSlot(_ fingerprint: UInt32) -> SlotNumber {
    var group = homeGroup(fingerprint)
    let favourite = Self.favouriteOffset(fingerprint)
    while true {
      let word = unsafe controls[group]
      let available = ControlWord.available(word)
      if available != 0 {
        let offset =
          if ControlWord.isSet(available, at: favourite) {
            favourite
          } else if ControlWord.isSet(available, at: favourite ^ 1) {
            favourite ^ 1
          } else {
            available.trailingZeroBitCount &>> 3
          }
        if ControlWord.empty(word) & (0x80 &<< UInt64(offset &* 8)) != 0 { emptyLeft -= 1 }
        unsafe controls[group] = ControlWord.setting(ControlWord.byte(fingerprint), at: offset, in: word)
        return SlotNumber(UInt32(truncatingIfNeeded: group &* 8 &+ offset))
      }
      group = group &+ 1 == groupCount ? 0 : group &+ 1
    }
  }

  /// Frees a slot. It becomes empty only if its group has an empty one already: then no search has ever gone past the
  /// group for a key that is still in the table.
  @inlinable
  mutating func freeSlot(_ number: SlotNumber) {
    let group = number.index &>> 3
    let word = unsafe controls[group]
    let becomesEmpty = ControlWord.empty(word) != 0
    if becomesEmpty { emptyLeft += 1 }
    let byte = becomesEmpty ? ControlWord.emptyByte : ControlWord.freedByte
    unsafe controls[group] = ControlWord.setting(byte, at: number.index & 7, in: word)
  }

  /// Moves all entries to a new table: a larger one if this is well filled, else one of the same size, without slots
  /// that only look taken. Entries get new numbers, which their nodes' links follow.
  ///
  /// - Parameter isLinked: whether nodes have links.
  /// - Returns: the new numbers, for whoever holds old ones. O(n).
  @inlinable
  @inline(never)
  mutating func rebuild(relinking isLinked: Bool = true) -> Renumbering {
    var rebuilt = SlotTable(groupCount: groupsAfterRebuild)
    let numbers = Renumbering(count: groupCount * 8)
    // An empty one may be of those that share their control bytes.
    for group in 0..<(count == 0 ? 0 : groupCount) {
      for offset in ControlWord.full(unsafe controls[group]) {
        let old = SlotNumber(UInt32(group * 8 + offset))
        let new = rebuilt.takeSlot(self[node: old].fingerprint)
        rebuilt.keyPlace(new).moveInitialize(from: keyPlace(old))
        unsafe rebuilt.content(new).moveInitialize(from: content(old), count: 1)
        unsafe (rebuilt.nodes + new.index).initialize(to: self[node: old])
        numbers.set(old, to: new)
      }
      // Its slots have been moved out: nothing is left to destroy.
      unsafe controls[group] = ControlWord.allEmpty
    }
    rebuilt.count = count
    for group in 0..<(isLinked ? rebuilt.groupCount : 0) {
      for offset in ControlWord.full(unsafe rebuilt.controls[group]) {
        let number = SlotNumber(UInt32(group * 8 + offset))
        rebuilt[node: number].newer = numbers[rebuilt[node: number].newer]
        rebuilt[node: number].older = numbers[rebuilt[node: number].older]
      }
    }
    swap(&self, &rebuilt)
    return numbers
  }

  /// Whether most of its room could be given back, by ``rebuild()``.
  @inlinable
  var isSparse: Bool { groupCount > 8 && count < groupCount }

  /// Doubles while it is small; then a quarter more if it is over eleven sixteenths full. What is sparse is made half full.
  @inlinable
  var groupsAfterRebuild: Int {
    let slots = groupCount * 8
    if isSparse { return count / 4 + 1 }
    if count * 16 <= slots * 11, count > 0 { return groupCount }
    if count == 0 { return 1 }
    return groupCount < 64 ? groupCount * 2 : groupCount + groupCount / 4
  }
}

/// The numbers that slots have after their table was rebuilt, by those that they had.
@safe
@usableFromInline
package struct Renumbering: ~Copyable {
  // One for each old slot; owned.
  @usableFromInline let numbers: UnsafeMutablePointer<SlotNumber>
  @usableFromInline let count: Int

  @inlinable
  init(count: Int) {
    unsafe numbers = .allocate(capacity: count)
    unsafe numbers.initialize(repeating: .none, count: count)
    self.count = count
  }

  @inlinable
  deinit {
    unsafe numbers.deallocate()
  }

  @inlinable
  func set(_ old: SlotNumber, to new: SlotNumber) {
    precondition(old.index < count)
    unsafe numbers[old.index] = new
  }

  /// The new number of an entry; none for none.
  @inlinable
  package subscript(old: SlotNumber) -> SlotNumber {
    guard old != .none else { return .none }
    precondition(old.index < count)
    return unsafe numbers[old.index]
  }
}
