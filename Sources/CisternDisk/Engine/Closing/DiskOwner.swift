import Synchronization

/// One opening of a directory. Its partitions hold it and observe when it ends.
final class DiskOwner: Sendable {
  private static let numbers = Atomic<Int>(0)

  let number = DiskOwner.numbers.add(1, ordering: .relaxed).newValue
  private let closed = Atomic<Bool>(false)

  @inline(__always)
  var isClosed: Bool { closed.load(ordering: .acquiring) }

  /// Ends the opening. Returns true for the first call.
  func close() -> Bool {
    !closed.exchange(true, ordering: .acquiringAndReleasing)
  }
}
