import Eviction

extension SlotTable {
  /// Takes a free slot, from the key's home group on.
  ///
  /// In a group with several free slots, the key's preferred slot comes first, and then the slot in the same cache
  /// line.
  @inlinable
  mutating func takeSlot(_ fingerprint: UInt32) -> SlotNumber {
    var group = homeGroup(fingerprint)
    let preferred = Self.preferredOffset(fingerprint)
    while true {
      let word = unsafe controls[group]
      let available = ControlWord.available(word)
      if available != 0 {
        let offset =
          if ControlWord.isSet(available, at: preferred) {
            preferred
          } else if ControlWord.isSet(available, at: preferred ^ 1) {
            preferred ^ 1
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

  /// Frees a slot.
  ///
  /// The slot becomes empty only if its group already contains an empty slot. In that case, no search has continued
  /// past the group for a key that is still in the table.
  @inlinable
  mutating func freeSlot(_ number: SlotNumber) {
    let group = number.index &>> 3
    let word = unsafe controls[group]
    let becomesEmpty = ControlWord.empty(word) != 0
    if becomesEmpty { emptyLeft += 1 }
    let byte = becomesEmpty ? ControlWord.emptyByte : ControlWord.freedByte
    unsafe controls[group] = ControlWord.setting(byte, at: number.index & 7, in: word)
  }

  /// Moves all entries to a new table, without the freed slots that make searches longer.
  ///
  /// The new table is larger if this one is well filled; otherwise, it has the same size or a smaller one. The
  /// entries get new numbers, and the links between their nodes follow.
  ///
  /// - Parameter isLinked: Whether the nodes have links.
  /// - Returns: The new numbers by the old ones.
  /// - Complexity: O(*n*).
  @inlinable
  @inline(never)
  mutating func rebuild(relinking isLinked: Bool = true) -> Renumbering {
    var rebuilt = SlotTable(groupCount: groupsAfterRebuild)
    let numbers = Renumbering(count: groupCount * 8)
    // The control word of a table without slots is shared, and must not be written.
    for group in 0..<(count == 0 ? 0 : groupCount) {
      for offset in ControlWord.full(unsafe controls[group]) {
        let old = SlotNumber(UInt32(group * 8 + offset))
        let new = rebuilt.takeSlot(self[node: old].fingerprint)
        rebuilt.keyPlace(new).moveInitialize(from: keyPlace(old))
        unsafe rebuilt.content(new).moveInitialize(from: content(old), count: 1)
        unsafe (rebuilt.nodes + new.index).initialize(to: self[node: old])
        numbers.set(old, to: new)
      }
      // The entries of this group have been moved, so the deinitializer must not destroy them.
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

  /// Whether ``rebuild(relinking:)`` would release most of the table's memory.
  @inlinable
  var isSparse: Bool { groupCount > 8 && count < groupCount }

  /// The number of groups after a rebuild.
  ///
  /// A small table doubles, and a large one grows by a quarter, if it is more than eleven sixteenths full. A sparse
  /// table becomes half full. In other cases, the size stays the same.
  @inlinable
  var groupsAfterRebuild: Int {
    let slots = groupCount * 8
    if isSparse { return count / 4 + 1 }
    if count * 16 <= slots * 11, count > 0 { return groupCount }
    if count == 0 { return 1 }
    return groupCount < 64 ? groupCount * 2 : groupCount + groupCount / 4
  }
}
