/// The reclaim of one extent, over several transactions.
///
/// A closed extent does not change. The number of examined records is therefore a stable position in it, also for
/// another process.
struct Reclaim: Sendable, Equatable {
  let number: ExtentNumber
  /// The age of the extent.
  let age: ExtentAge
  private(set) var method: ReclaimPolicy.Method
  /// The number of records that were examined.
  private(set) var position: Int
  /// The number of bytes that were copied.
  private(set) var copiedBytes: Int

  /// Creates the reclaim of an extent, or continues it after some records were examined and copied.
  init(_ choice: ReclaimPolicy.Choice, age: ExtentAge, position: Int = 0, copiedBytes: Int = 0) {
    number = choice.number
    method = choice.method
    self.age = age
    self.position = position
    self.copiedBytes = copiedBytes
  }

  /// The age that copies have. Nil for an age above those of all extents.
  ///
  /// The newest copy in an extent decides its age. Cleaning keeps the age of its extent. A second chance does not:
  /// otherwise the copies would be evicted next.
  var ageOfCopies: ExtentAge? {
    switch method {
    case .clean: age
    case .evict: nil
    }
  }

  /// The state of a record that is examined.
  enum Finding: Sendable, Equatable {
    /// The index no longer refers to the record, or an invalidation covers it.
    case dead
    /// The record is live. `isUsed` states whether it was read since it was written or copied.
    case live(size: Int, isUsed: Bool)
  }

  /// Returns the bytes that later evictions can copy in addition, after this reclaim.
  ///
  /// - Parameters:
  ///   - saved: The number of these bytes before this reclaim.
  ///   - log: The extents of the file.
  /// - Returns: The number of bytes.
  func savedBytes(after saved: Int, in log: ExtentLog) -> Int {
    let most = Self.mostSavedBytes(in: log)
    guard method == .evict else { return min(saved, most) }
    return min(max(min(saved, most) + log.layout.capacity / 2 - copiedBytes, 0), most)
  }

  /// Returns the limit of ``savedBytes(after:in:)``, with which a process also begins: an eighth of the file, but at
  /// most 16 MiB.
  ///
  /// Records that were written together and are read often lie in extents that are evicted one after the other. Until
  /// the limit is reached, all of them are copied. Such evictions make no room, so the limit also bounds the wait of a
  /// write.
  static func mostSavedBytes(in log: ExtentLog) -> Int {
    max(4 * log.layout.capacity, min(log.capacity / 8, 16 << 20))
  }

  enum Verdict: Sendable, Equatable {
    /// The record needs no action.
    case skip
    /// The record gets a new place.
    case copy
    /// The record loses its item in the index.
    case evict
  }

  /// Decides about the next record.
  ///
  /// - Parameters:
  ///   - finding: The state of the record.
  ///   - layout: The layout of the file.
  ///   - canCopy: Whether a copy has room now. Without room, the record is evicted.
  ///   - saved: The number of bytes by which earlier evictions copied less than they could.
  /// - Returns: The verdict on the record.
  mutating func examine(_ finding: Finding, in layout: ExtentLayout, canCopy: Bool, saved: Int = 0) -> Verdict {
    position += 1
    guard case .live(let size, let isUsed) = finding else { return .skip }
    let room = ExtentLayout.room(for: size)
    let isKept =
      switch method {
      case .clean: true
      // Second chances for more than half of all extents would make eviction as expensive as two writes.
      case .evict: isUsed && copiedBytes + room <= layout.capacity / 2 + saved
      }
    guard isKept, canCopy else { return .evict }
    copiedBytes += room
    return .copy
  }
}
