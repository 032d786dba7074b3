/// A set-associative table of ghosts: the use count and the last use time of evicted entries.
///
/// The table has about as many records as the shard has entries. A record takes eight bytes, and a set of eight
/// records is one cache line. A set is ordered by eviction time, newest first. A full set drops its oldest record.
struct GhostHistoryTable {
  /// The recorded use of an evicted entry.
  struct Memory {
    var uses: UInt8
    /// The time since the last use, in insertions into the shard.
    var age: UInt32
  }

  /// An entry at the time of its eviction.
  struct EvictedEntry {
    var fingerprint: UInt32
    var uses: UInt8
    /// The time of the last use, in insertions into the shard.
    var lastUse: UInt32
  }

  private struct Record {
    var fingerprint: UInt32
    /// The number of uses in the upper 8 bits, and the time of the last use in the lower 24. Zero in an empty
    /// record.
    var use: UInt32

    static let none = Record(fingerprint: 0, use: 0)

    func memory(at now: UInt32) -> Memory {
      Memory(uses: UInt8(truncatingIfNeeded: use >> 24), age: (now &- use) & 0xFF_FFFF)
    }
  }

  private var records: [Record] = []
  /// The number of insertions since the table size was last checked.
  private var insertions = 0

  private static let setSize = 8
  /// The minimum number of records in all shards of a cache. A small cache learns more from the many entries that it
  /// evicted than from the few that it holds.
  private static let leastSize = 128

  /// Returns the number of records for a shard with `entryCount` entries, in a cache of `shardCount` shards with
  /// `totalCount` entries.
  static func recordCount(entryCount: Int, totalCount: Int, shardCount: Int) -> Int {
    max(entryCount, totalCount / shardCount, leastSize / shardCount, setSize)
  }

  /// Whether the table has never held a record.
  var isEmpty: Bool { records.isEmpty }

  /// Records an evicted entry. Calls `ended` with each record that is dropped to make room.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - now: The present time.
  ///   - recordCount: The number of records that the table should have.
  ///   - ended: Receives a dropped record.
  mutating func insert(
    _ entry: EvictedEntry, at now: UInt32, recordCount: @autoclosure () -> Int, ended: (Memory) -> Void
  ) {
    insertions += 1
    if insertions > records.count { resize(to: recordCount(), at: now, ended: ended) }
    let use = UInt32(max(entry.uses, 1)) << 24 | entry.lastUse & 0xFF_FFFF
    let record = Record(fingerprint: entry.fingerprint, use: use)
    put(record, at: now, ended: ended)
  }

  /// Returns the record of an entry, or nil if the table has none.
  func memory(of fingerprint: UInt32, at now: UInt32) -> Memory? {
    place(of: fingerprint).map { records[$0].memory(at: now) }
  }

  /// Removes the record of an entry and returns it.
  mutating func remove(_ fingerprint: UInt32, at now: UInt32) -> Memory? {
    guard let place = place(of: fingerprint) else { return nil }
    let memory = records[place].memory(at: now)
    let end = setStart(of: fingerprint) + Self.setSize
    // A mutable span checks for exclusive access once, not at each element.
    var records = records.mutableSpan
    for later in place..<end - 1 { records[later] = records[later + 1] }
    records[end - 1] = .none
    return memory
  }

  private func place(of fingerprint: UInt32) -> Int? {
    guard !records.isEmpty else { return nil }
    let set = setStart(of: fingerprint)
    for place in set..<set + Self.setSize where records[place].fingerprint == fingerprint && records[place].use != 0 {
      return place
    }
    return nil
  }

  /// Inserts a record at the front of its set. The other records move back by one, and the last one is dropped.
  private mutating func put(_ record: Record, at now: UInt32, ended: (Memory) -> Void) {
    let set = setStart(of: record.fingerprint)
    let last = set + Self.setSize - 1
    if records[last].use != 0 { ended(records[last].memory(at: now)) }
    unsafe records.withUnsafeMutableBytes { records in
      // In bounds: each set has `setSize` records, and `set` is the index of the first. Three vector moves shift
      // seven records. A loop or a call of `memmove` would be slower.
      let first = set * MemoryLayout<Record>.stride
      let four = unsafe records.loadUnaligned(fromByteOffset: first, as: SIMD4<UInt64>.self)
      let two = unsafe records.loadUnaligned(fromByteOffset: first + 32, as: SIMD2<UInt64>.self)
      let one = unsafe records.loadUnaligned(fromByteOffset: first + 48, as: UInt64.self)
      unsafe records.storeBytes(of: four, toByteOffset: first + 8, as: SIMD4<UInt64>.self)
      unsafe records.storeBytes(of: two, toByteOffset: first + 40, as: SIMD2<UInt64>.self)
      unsafe records.storeBytes(of: one, toByteOffset: first + 56, as: UInt64.self)
      unsafe records.storeBytes(of: record, toByteOffset: first, as: Record.self)
    }
  }

  private func setStart(of fingerprint: UInt32) -> Int {
    // The multiplication mixes the bits, so that similar hashes spread over all sets.
    let spread = (UInt64(fingerprint) &* 0x9E37_79B9_7F4A_7C15) >> 32
    return Int((spread &* UInt64(records.count / Self.setSize)) >> 32) * Self.setSize
  }

  /// Resizes the table to about this number of records, if the sizes differ enough.
  private mutating func resize(to recordCount: Int, at now: UInt32, ended: (Memory) -> Void) {
    insertions = 0
    let size = (recordCount + Self.setSize - 1) / Self.setSize * Self.setSize
    guard records.isEmpty || size > records.count * 5 / 4 || size < records.count / 2 else { return }
    let old = records
    records = Array(repeating: .none, count: size)
    // Reversed, so that each set keeps its order.
    for record in old.reversed() where record.use != 0 { put(record, at: now, ended: ended) }
  }
}
