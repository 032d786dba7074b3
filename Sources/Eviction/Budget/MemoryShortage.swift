import Locking

/// The lack of room for a reservation.
@usableFromInline
package struct MemoryShortage: Sendable {
  /// The budget that lacks room. Its memory consumers must evict entries.
  @usableFromInline package let budget: MemoryBudget
  /// The limit that the reservation would exceed.
  @usableFromInline package let reason: EvictionReason

  @usableFromInline
  init(of budget: MemoryBudget, for reason: EvictionReason) {
    self.budget = budget
    self.reason = reason
  }

  /// Evicts an entry like ``MemoryBudget/evictSomewhere(for:)``. Without an entry to evict, pauses for a moment.
  ///
  /// Other writers have reserved the room then. They need the processor to use or release it.
  @usableFromInline
  package func evictOrPause() {
    if !budget.evictSomewhere(for: reason) { ShortPause.wait() }
  }
}
