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
  /// The newest copy in an extent decides its age. Cleaning keeps the age of its extent. A second chance does not: otherwise the copies
  /// would be evicted next.
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
  ///   - layout: The layout of the extents.
  /// - Returns: The number of bytes.
  func savedBytes(after saved: Int, in layout: ExtentLayout) -> Int {
    guard method == .evict else { return saved }
    return min(max(saved + layout.capacity / 2 - copiedBytes, 0), Self.mostSavedBytes(in: layout))
  }

  /// Returns the limit of ``savedBytes(after:in:)``, with which a process also begins: all records of some extents.
  static func mostSavedBytes(in layout: ExtentLayout) -> Int { 4 * layout.capacity }

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
