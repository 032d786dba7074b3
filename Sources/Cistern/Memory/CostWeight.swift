/// How much an entry's cost weighs against its hits.
enum CostWeight {
  /// The cost to the power of 5/8. With the cost itself, as in GDSF, the fewest objects are missed where sizes differ, and
  /// many more bytes; this way a few more objects, and about as many bytes as by policies that know nothing of sizes.
  @inline(__always)
  static func of(_ cost: UInt32) -> Float {
    // Where each entry costs one, three roots would take more time than all else that an eviction looks at.
    cost > 1 ? ofMore(cost) : 1
  }

  @inline(never)
  private static func ofMore(_ cost: UInt32) -> Float {
    let root = Float(cost).squareRoot()
    return root * root.squareRoot().squareRoot()
  }
}
