/// Remembers of entries that were evicted how often they were used, and when last. Eight bytes each, as many as there
/// are entries, in sets of eight: one line of memory. A full set gives up what was evicted first.
struct DepartedTable {
  /// What is remembered of an entry.
  struct Memory {
    var uses: UInt8
    /// The time since its last use, in insertions.
    var age: UInt32
  }

  private struct Record {
    var fingerprint: UInt32
    /// Eight bits of uses above 24 of the time of the last one; 0 where there is none.
    var use: UInt32

    static let none = Record(fingerprint: 0, use: 0)

    func memory(at now: UInt32) -> Memory {
      Memory(uses: UInt8(truncatingIfNeeded: use >> 24), age: (now &- use) & 0xFF_FFFF)
    }
  }

  private var records: [Record] = []
  /// Evictions since the size was last thought of.
  private var insertions = 0

  private static let setSize = 8
  /// A small cache learns more from the many that it cannot hold than from the few that it holds.
  private static let leastSize = 128

  /// Whether nothing was ever remembered.
  var isEmpty: Bool { records.isEmpty }

  /// Remembers an entry. Calls `ended` with what had to be forgotten for it.
  mutating func insert(
    _ fingerprint: UInt32, uses: UInt8, lastUse: UInt32, at now: UInt32, entryCount: Int, ended: (Memory) -> Void
  ) {
    insertions += 1
    if insertions > records.count { resize(for: entryCount, at: now, ended: ended) }
    let record = Record(fingerprint: fingerprint, use: UInt32(max(uses, 1)) << 24 | lastUse & 0xFF_FFFF)
    put(record, at: now, ended: ended)
  }

  /// What is remembered of an entry.
  func memory(of fingerprint: UInt32, at now: UInt32) -> Memory? {
    place(of: fingerprint).map { records[$0].memory(at: now) }
  }

  /// Forgets an entry; what was remembered of it.
  mutating func remove(_ fingerprint: UInt32, at now: UInt32) -> Memory? {
    guard let place = place(of: fingerprint) else { return nil }
    let memory = records[place].memory(at: now)
    let end = setStart(of: fingerprint) + Self.setSize
    // A span, which is looked at once for being the only one that is used.
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

  /// Puts a record first in its set, the others after it: what went first is last.
  private mutating func put(_ record: Record, at now: UInt32, ended: (Memory) -> Void) {
    let set = setStart(of: record.fingerprint)
    let last = set + Self.setSize - 1
    if records[last].use != 0 { ended(records[last].memory(at: now)) }
    unsafe records.withUnsafeMutableBytes { records in
      // In bounds: a set is whole. Seven records in three moves, where a loop would take each after the other, and a function
      // be called for as many as it is told.
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
    // Mixed, so that every bit has a say, also of hashes that are alike in some.
    let spread = (UInt64(fingerprint) &* 0x9E37_79B9_7F4A_7C15) >> 32
    return Int((spread &* UInt64(records.count / Self.setSize)) >> 32) * Self.setSize
  }

  /// As many as there are entries, about.
  private mutating func resize(for entryCount: Int, at now: UInt32, ended: (Memory) -> Void) {
    insertions = 0
    let size = (max(entryCount, Self.leastSize) + Self.setSize - 1) / Self.setSize * Self.setSize
    guard records.isEmpty || size > records.count * 5 / 4 || size < records.count / 2 else { return }
    let old = records
    records = Array(repeating: .none, count: size)
    // From the last of each set, so that the order stays.
    for record in old.reversed() where record.use != 0 { put(record, at: now, ended: ended) }
  }
}
