/// Remembers the fingerprints of entries that were dropped, for as long as it takes to drop a main queue's worth of
/// cost more. Eight bytes a memory, found in one line of memory; nothing is ever moved.
///
/// Each memory is stamped with the cost dropped until then, so that it fades by itself: the idea of the S3-FIFO paper's
/// ghost, kept in sets of eight instead of a queue. A full set forgets its oldest; a wrong fingerprint, one in
/// 500 million, admits an entry that had not been there.
struct GhostTable {
  private struct Memory {
    var fingerprint: UInt32
    /// The clock when it was dropped; 0 where there is none.
    var stamp: UInt32

    static let none = Memory(fingerprint: 0, stamp: 0)
  }

  private var memories: [Memory] = []
  /// Insertions since the table was last sized.
  private var insertions = 0
  /// The cost dropped so far, in units of ``quantum``.
  private var clock: UInt64 = 1
  /// Dropped cost that is not yet a whole unit.
  private var remainder = 0
  /// How long a memory lasts, in cost.
  private var lifetime = 0
  private var quantum = 1

  private static let setSize = 8

  /// Whether nothing was ever remembered.
  var isEmpty: Bool { memories.isEmpty }

  /// Remembers an entry of this cost; memories last until `capacity` more was dropped.
  mutating func insert(_ fingerprint: UInt32, cost: UInt32, capacity: Int) {
    lifetime = max(capacity, 1)
    advance(by: Int(cost))
    insertions += 1
    if insertions > memories.count * 5 / 8 { grow() }
    put(Memory(fingerprint: fingerprint, stamp: UInt32(clock)))
  }

  /// Forgets an entry; whether it was remembered.
  mutating func remove(_ fingerprint: UInt32) -> Bool {
    guard !memories.isEmpty else { return false }
    let set = setStart(of: fingerprint)
    for place in set..<set + Self.setSize where memories[place].fingerprint == fingerprint && isLive(memories[place]) {
      memories[place] = .none
      return true
    }
    return false
  }

  /// Puts a memory into its set, in a free place or that of the oldest.
  private mutating func put(_ memory: Memory) {
    let set = setStart(of: memory.fingerprint)
    var oldest = set
    for place in set..<set + Self.setSize where memories[place].stamp < memories[oldest].stamp { oldest = place }
    memories[oldest] = memory
  }

  private func isLive(_ memory: Memory) -> Bool {
    memory.stamp != 0 && (clock - UInt64(memory.stamp)) * UInt64(quantum) <= UInt64(lifetime)
  }

  private func setStart(of fingerprint: UInt32) -> Int {
    // Mixed, so that every bit has a say, also of hashes that are alike in some.
    let spread = UInt64(fingerprint) &* 0x9E37_79B9_7F4A_7C15
    let sets = UInt64(memories.count / Self.setSize)
    return Int((spread >> 32) & (sets - 1)) * Self.setSize
  }

  private mutating func advance(by cost: Int) {
    remainder += cost
    clock += UInt64(remainder / quantum)
    remainder %= quantum
    if clock >= UInt64(UInt32.max) { coarsen() }
  }

  /// Makes room in the stamps: 65,536 units a lifetime are enough to tell memories apart.
  private mutating func coarsen() {
    let newQuantum = max(quantum, lifetime >> 16, 1)
    let start = clock
    for place in memories.indices {
      guard isLive(memories[place]) else {
        memories[place] = .none
        continue
      }
      let age = (start - UInt64(memories[place].stamp)) * UInt64(quantum) / UInt64(newQuantum)
      memories[place].stamp = UInt32((1 << 17) - min(age, (1 << 17) - 1))
    }
    quantum = newQuantum
    clock = 1 << 17
    remainder = 0
  }

  /// Doubles if the live memories fill more than half of it; else only starts to count anew.
  private mutating func grow() {
    let live = memories.filter { isLive($0) }
    insertions = live.count
    let size = memories.isEmpty ? Self.setSize : live.count * 2 > memories.count ? memories.count * 2 : memories.count
    guard size != memories.count else { return }
    memories = Array(repeating: .none, count: size)
    for memory in live { put(memory) }
  }
}
