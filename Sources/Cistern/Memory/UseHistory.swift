/// How often an entry was used, and when last, as far as its policy has noticed. In the place of a node's links.
struct UseHistory: Equatable {
  var uses: UInt8
  /// In insertions into its shard.
  var lastUse: UInt32
  /// When it was last looked at: the low 24 bits. Uses that are noticed have happened since.
  var lastLook: UInt32

  init(uses: UInt8, lastUse: UInt32, lastLook: UInt32) {
    self.uses = uses
    self.lastUse = lastUse
    self.lastLook = lastLook & 0xFF_FFFF
  }

  /// Notices so many uses since the last look, taken to be as far apart as they can. Calls `used` for each, with the number of uses before it and
  /// the age at it.
  mutating func note(_ count: UInt8, at now: UInt32, used: (_ before: UInt8, _ age: UInt32) -> Void) {
    defer { lastLook = now & 0xFF_FFFF }
    guard count > 0 else { return }
    // The entry has been there since its last use, which is no later than the look.
    let span = min((now &- lastLook) & 0xFF_FFFF, now &- lastUse)
    let step = span / (UInt32(count) + 1)
    var time = now &- span
    for _ in 0..<count {
      time &+= step
      used(uses, time &- lastUse)
      lastUse = time
      if uses < .max { uses += 1 }
    }
  }
}

extension EvictionNode {
  /// For a policy that does not link its entries: see ``EvictionPolicy/linksEntries``.
  var history: UseHistory {
    get {
      UseHistory(
        uses: UInt8(truncatingIfNeeded: older.rawValue &>> 24), lastUse: newer.rawValue, lastLook: older.rawValue)
    }
    set {
      newer = SlotNumber(newValue.lastUse)
      older = SlotNumber(UInt32(newValue.uses) << 24 | newValue.lastLook)
    }
  }

  /// Notes a look that finds no use.
  @inline(__always)
  mutating func noteLook(at now: UInt32) {
    older = SlotNumber(older.rawValue & 0xFF00_0000 | now & 0xFF_FFFF)
  }
}
