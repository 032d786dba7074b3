/// Decides when an extent is reclaimed, which one, and what happens to its records.
///
/// Cleaning follows M. Rosenblum and J. Ousterhout, The Design and Implementation of a Log-Structured File System (ACM
/// TOCS 1992). Eviction replaces it if live records fill the file.
struct ReclaimPolicy: Sendable, Equatable {
  /// The number of free extents below which the writer reclaims. It covers extents that readers or the last commits
  /// still protect.
  static let reserve = 5

  /// The share of live bytes above which the oldest extent is evicted. Below it, the extent with the fewest live bytes
  /// is cleaned, if a sufficient part of its bytes is dead.
  ///
  /// In a small file, the free extents and the unused ends of others keep the share below the target. Cleaning alone
  /// would then copy live records forever.
  let target: Double

  /// Creates the policy for records of a mean size. Larger records cost more to copy, so more space stays for dead
  /// ones.
  init(meanRecordSize: Int) {
    target = meanRecordSize < 4096 ? 0.83 : 0.80
  }

  /// The treatment of an extent.
  enum Method: Sendable, Equatable {
    /// Used records are copied, up to half of an extent. Others are evicted.
    case evict
    /// All live records are copied.
    case clean
  }

  /// The extent that is reclaimed next.
  struct Choice: Sendable, Equatable {
    let number: ExtentNumber
    let method: Method
  }

  /// Returns whether the writer must reclaim before it writes more records.
  func isNeeded(in log: ExtentLog) -> Bool {
    log.freeCount < min(Self.reserve, max(log.count / 4, 2))
  }

  /// Returns whether so many bytes are dead that copies of the live ones gain space.
  func gainsByCleaning(in log: ExtentLog) -> Bool { Double(log.liveBytes) <= target * Double(log.capacity) }

  /// Returns the extent that is reclaimed next, or nil if no extent is closed.
  ///
  /// - Parameters:
  ///   - log: The extents.
  ///   - canCopy: Whether a copy has an extent to go to. Without one, records must be evicted.
  ///   - excluded: Extents that this transaction must not reclaim.
  /// - Returns: The choice; nil if no extent is closed.
  func choose(in log: ExtentLog, canCopy: Bool, except excluded: Set<ExtentNumber> = []) -> Choice? {
    var oldest: (number: ExtentNumber, extent: Extent)?
    var sparsest: (number: ExtentNumber, extent: Extent)?
    for (number, extent) in log.all where extent.isClosed && !excluded.contains(number) {
      if oldest.map({ extent.age < $0.extent.age }) ?? true { oldest = (number, extent) }
      if sparsest.map({ extent.liveBytes < $0.extent.liveBytes }) ?? true { sparsest = (number, extent) }
    }
    guard let oldest, let sparsest else { return nil }
    if sparsest.extent.liveBytes == 0 { return Choice(number: sparsest.number, method: .clean) }
    let isDense =
      !gainsByCleaning(in: log)
      || Double(sparsest.extent.deadBytes) < (1 - target) * Double(log.layout.capacity)
    if isDense || !canCopy { return Choice(number: oldest.number, method: .evict) }
    return Choice(number: sparsest.number, method: .clean)
  }
}
