/// The limit for which an entry is evicted.
@usableFromInline
package enum EvictionReason: Sendable {
  /// The limit on cost, or a call that trims memory to a cost.
  case cost
  /// The limit on the number of entries.
  case count
}
