import Synchronization

/// The numbers of times that a custom tier has answered that it has no record of a key. Keys with similar hashes share
/// a number.
///
/// Without such an answer since a read of a record began, no caller has missed the record.
@usableFromInline
final class AbsenceCounts: Sendable {
  /// One of the numbers.
  final class Count: Sendable {
    let number = Atomic<UInt64>(0)

    func raise() { number.add(1, ordering: .sequentiallyConsistent) }
  }

  private let counts: [Count] = (0..<64).map { _ in Count() }

  private func count(of key: [UInt8]) -> Count {
    counts[Int(UInt(bitPattern: key.hashValue) % UInt(counts.count))]
  }

  /// Records that the tier has no record of the key. Call this method before the answer is used.
  func note(_ key: RawSpan) { count(of: key.copiedBytes()).raise() }

  /// Records that the tier may have no record of any key.
  func noteAll() { for count in counts { count.raise() } }

  /// Returns the state before a read of the key's record.
  @usableFromInline
  func beginRead(of key: [UInt8]) -> ComparedRead { ComparedRead(count(of: key)) }
}
