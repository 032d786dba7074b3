/// The effect of a hit on a node.
@usableFromInline
package enum HitRule: Sendable {
  /// Increments the node's frequency up to a maximum. At the maximum, a hit writes nothing.
  case count(upTo: UInt8)
  /// Calls ``EvictionPolicy/hit(_:in:)``.
  case notifyPolicy
}
