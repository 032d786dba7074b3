import Synchronization

/// The registration of the format of a cache by its openings. See ``TransactionalPartition/register(_:)``.
@usableFromInline
package final class FormatRegistration: Sendable {
  private let confirmed = Atomic<Bool>(false)

  package init() {}

  /// Whether an opening with the format has succeeded, so that the tier may write the format down.
  package var isConfirmed: Bool { confirmed.load(ordering: .acquiring) }

  /// Notes that an opening with the format has succeeded. Takes no lock; called inside the critical section that enters
  /// the cache.
  package func confirm() { confirmed.store(true, ordering: .releasing) }
}
