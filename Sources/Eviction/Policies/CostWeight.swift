/// The weight of an entry's cost against its expected hits.
enum CostWeight {
  /// Returns the cost to the power of 5/8.
  ///
  /// Division by the full cost, as in GDSF, minimizes the number of misses but misses many more bytes. The exponent
  /// 5/8 causes a few more misses, and misses about as many bytes as a policy that ignores sizes.
  @inline(__always)
  static func of(_ cost: UInt32) -> Float {
    // Entries of cost 1 are common. For these, the roots would dominate the time of an eviction.
    cost > 1 ? ofMore(cost) : 1
  }

  @inline(never)
  private static func ofMore(_ cost: UInt32) -> Float {
    let root = Float(cost).squareRoot()
    return root * root.squareRoot().squareRoot()
  }
}
