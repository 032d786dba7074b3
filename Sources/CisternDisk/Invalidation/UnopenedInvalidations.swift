import CisternCore

/// The invalidations for the partitions of the file that this process has not opened. This type is pure.
///
/// The next commit writes them for every such partition. Until then, a partition that is opened stages them itself.
struct UnopenedInvalidations: Sendable {
  /// A change of every partition that is not open.
  struct Change: Sendable {
    /// The invalidations to add.
    fileprivate(set) var invalidations: Set<Invalidation> = []
    /// Whether all records are removed instead, because there are too many invalidations.
    fileprivate(set) var removesAll = false
    /// The size of the invalidations in bytes.
    private(set) var size = 0

    /// The number of staged changes that the change counts as.
    var count: Int { removesAll ? 1 : invalidations.count }
    var isEmpty: Bool { count == 0 }

    fileprivate mutating func add(_ invalidation: Invalidation, limit: Int) {
      guard !removesAll, invalidations.insert(invalidation).inserted else { return }
      size += invalidation.size
      if size > limit { removeAll() }
    }

    fileprivate mutating func merge(_ other: Change) {
      if removesAll || other.removesAll { return removeAll() }
      for invalidation in other.invalidations { add(invalidation, limit: .max) }
    }

    private mutating func removeAll() {
      self = Change()
      removesAll = true
    }
  }

  /// A number of commits, which a caller compares with an earlier one.
  struct CommitCount: Sendable, Equatable {
    private var number: UInt64 = 0

    fileprivate mutating func increment() { number += 1 }
  }

  /// The change that the next hand-over takes. A partition that is read from the file after the commit in progress must
  /// stage it.
  private(set) var staged = Change()
  private var committing = Change()
  /// The number of changes that were committed.
  private(set) var commitCount = CommitCount()

  /// The change that a partition must stage if it is opened now.
  var pending: Change {
    var all = committing
    all.merge(staged)
    return all
  }

  /// Adds an invalidation. If the staged ones exceed `limit` bytes, stages the removal of all records instead.
  ///
  /// - Returns: The difference in the number of staged changes.
  mutating func stage(_ invalidation: Invalidation, limit: Int) -> Int {
    let before = staged.count
    staged.add(invalidation, limit: limit)
    return staged.count - before
  }

  /// Hands over the staged change, or returns nil if nothing is staged.
  mutating func beginCommitting() -> Change? {
    guard !staged.isEmpty else { return nil }
    committing = staged
    staged = Change()
    return committing
  }

  /// Ends the commit of the handed-over change, which is in the file from now on.
  mutating func finishCommitting() {
    committing = Change()
    commitCount.increment()
  }

  /// Stages the handed-over change again, because it was not committed.
  ///
  /// - Returns: The difference in the number of staged changes.
  mutating func restore() -> Int {
    let before = staged.count
    staged.merge(committing)
    committing = Change()
    return staged.count - before
  }
}
