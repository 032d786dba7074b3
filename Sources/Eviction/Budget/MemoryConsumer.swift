import Synchronization

/// A memory consumer: an object that evicts entries when its budget needs room.
@usableFromInline
package protocol MemoryConsumer: AnyObject, Sendable {
  /// An estimate of the consumer's cost. Its mean is correct.
  var estimatedCost: Double { get }
  /// Evicts one entry. Returns false if the consumer has none.
  func evictOne(for reason: EvictionReason) -> Bool
  /// Releases storage for entries that the consumer no longer holds.
  func releaseSlots()
}
