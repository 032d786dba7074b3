/// A set-associative table of the fingerprints of entries that the small queue evicted.
///
/// This is the ghost queue of S3-FIFO, stored as sets of eight. A record takes eight bytes, and a set is one cache
/// line. Records never move. Each record is stamped with the total cost evicted until then, so its age is the
/// difference from the current total. A full set drops its oldest record.
///
/// Two keys with the same fingerprint are indistinguishable. Such a collision only inserts a new entry into the
/// main queue.
struct GhostTable {
  private struct Ghost {
    var fingerprint: UInt32
    /// The value of the clock at the eviction; 0 in an empty record.
    var stamp: UInt32

    static let none = Ghost(fingerprint: 0, stamp: 0)
  }

  private var ghosts: [Ghost] = []
  /// The number of insertions since the table was last sized.
  private var insertions = 0
  /// The evicted cost in units of ``quantum``.
  private var clock: UInt64 = 1
  /// The evicted cost that does not fill a whole unit yet.
  private var remainder = 0
  /// The cost that must be evicted before a record expires.
  private var lifetime = 0
  /// The cost of one unit of the clock.
  private var quantum = 1

  private static let setSize = 8

  /// Whether the table has never held a record.
  var isEmpty: Bool { ghosts.isEmpty }

  /// Records an evicted entry of this cost. All records expire after `capacity` more cost was evicted.
  mutating func insert(_ fingerprint: UInt32, cost: UInt32, capacity: Int) {
    lifetime = max(capacity, 1)
    advance(by: Int(cost))
    insertions += 1
    if insertions > ghosts.count * 5 / 8 { grow() }
    put(Ghost(fingerprint: fingerprint, stamp: UInt32(clock)))
  }

  /// Removes the record of an entry. Returns whether the table had a live one.
  mutating func remove(_ fingerprint: UInt32) -> Bool {
    guard !ghosts.isEmpty else { return false }
    let set = setStart(of: fingerprint)
    for place in set..<set + Self.setSize where ghosts[place].fingerprint == fingerprint && isLive(ghosts[place]) {
      ghosts[place] = .none
      return true
    }
    return false
  }

  /// Stores a record in its set, in an empty position or in that of the oldest record.
  private mutating func put(_ ghost: Ghost) {
    let set = setStart(of: ghost.fingerprint)
    var oldest = set
    for place in set..<set + Self.setSize where ghosts[place].stamp < ghosts[oldest].stamp { oldest = place }
    ghosts[oldest] = ghost
  }

  private func isLive(_ ghost: Ghost) -> Bool {
    ghost.stamp != 0 && (clock - UInt64(ghost.stamp)) * UInt64(quantum) <= UInt64(lifetime)
  }

  private func setStart(of fingerprint: UInt32) -> Int {
    // The multiplication mixes the bits, so that similar hashes spread over all sets.
    let spread = UInt64(fingerprint) &* 0x9E37_79B9_7F4A_7C15
    let sets = UInt64(ghosts.count / Self.setSize)
    return Int((spread >> 32) & (sets - 1)) * Self.setSize
  }

  private mutating func advance(by cost: Int) {
    remainder += cost
    clock += UInt64(remainder / quantum)
    remainder %= quantum
    if clock >= UInt64(UInt32.max) { coarsen() }
  }

  /// Increases the quantum and rescales all stamps before the clock exceeds 32 bits. A resolution of 65,536 units
  /// per lifetime is sufficient to order records.
  private mutating func coarsen() {
    let newQuantum = max(quantum, lifetime >> 16, 1)
    let start = clock
    for place in ghosts.indices {
      guard isLive(ghosts[place]) else {
        ghosts[place] = .none
        continue
      }
      let age = (start - UInt64(ghosts[place].stamp)) * UInt64(quantum) / UInt64(newQuantum)
      ghosts[place].stamp = UInt32((1 << 17) - min(age, (1 << 17) - 1))
    }
    quantum = newQuantum
    clock = 1 << 17
    remainder = 0
  }

  /// Doubles the table if live records fill more than half of it. Otherwise, only resets the insertion count.
  private mutating func grow() {
    let live = ghosts.filter { isLive($0) }
    insertions = live.count
    let size = ghosts.isEmpty ? Self.setSize : live.count * 2 > ghosts.count ? ghosts.count * 2 : ghosts.count
    guard size != ghosts.count else { return }
    ghosts = Array(repeating: .none, count: size)
    for ghost in live { put(ghost) }
  }
}
