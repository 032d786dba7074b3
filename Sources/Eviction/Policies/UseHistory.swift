/// The number of uses and the last use of an entry, as far as its policy has observed them. It is stored in the
/// node's links.
struct UseHistory: Equatable {
  var uses: UInt8
  /// The time of the last use, in insertions into the shard.
  var lastUse: UInt32
  /// The time when the policy last examined the entry, in the lower 24 bits. Uses that it observes next occurred
  /// after that.
  var lastLook: UInt32

  init(uses: UInt8, lastUse: UInt32, lastLook: UInt32) {
    self.uses = uses
    self.lastUse = lastUse
    self.lastLook = lastLook & 0xFF_FFFF
  }

  /// Records uses since the last look, and assumes that they were evenly spaced. Calls `used` for each one, with
  /// the number of earlier uses and the age at the use.
  mutating func note(_ count: UInt8, at now: UInt32, used: (_ before: UInt8, _ age: UInt32) -> Void) {
    defer { lastLook = now & 0xFF_FFFF }
    guard count > 0 else { return }
    // New uses follow the last recorded one, so the span never begins before it.
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
  /// The history of an entry whose policy does not link its entries (``EvictionPolicy/linksEntries``).
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

  /// Records a look that found no use.
  @inline(__always)
  mutating func noteLook(at now: UInt32) {
    older = SlotNumber(older.rawValue & 0xFF00_0000 | now & 0xFF_FFFF)
  }
}
