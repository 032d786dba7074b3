/// The weight of an entry's cost against its expected hits.
package enum CostWeight: Sendable {
  /// Divides the density by the cost to the power of 5/8.
  ///
  /// Division by the full cost, as in GDSF, minimizes the number of misses but misses many more bytes. The exponent
  /// 5/8 causes a few more misses, and misses about as many bytes as a policy that ignores sizes.
  case ofMisses
  /// Ignores the cost. A hit of an entry saves as much cost as the entry occupies, so its benefit for its cost is the
  /// chance of the hit.
  case ofMissedCost

  /// Returns the density of an entry for its cost.
  @inline(__always)
  func weigh(_ density: Float, cost: UInt32) -> Float {
    // Entries of cost 1 are common. For these, the roots would dominate the time of an eviction.
    cost > 1 && self == .ofMisses ? density / Self.root(of: cost) : density
  }

  /// Returns the cost to the power of 5/8.
  @inline(never)
  private static func root(of cost: UInt32) -> Float {
    let root = Float(cost).squareRoot()
    return root * root.squareRoot().squareRoot()
  }
}
