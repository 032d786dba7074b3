/// A read of a record in a custom tier, which later answers of the tier are compared with.
@usableFromInline
final class ComparedRead: Sendable {
  private let count: AbsenceCounts.Count
  private let number: UInt64

  init(_ count: AbsenceCounts.Count) {
    self.count = count
    number = count.number.load(ordering: .sequentiallyConsistent)
  }

  /// Whether a caller has missed the record since the read began.
  ///
  /// A caller that misses the record looks in memory after that. If the result is false inside the critical section of
  /// the key, the caller finds the value there that this critical section puts into memory.
  @usableFromInline
  var isMissed: Bool { count.number.load(ordering: .sequentiallyConsistent) != number }
}
