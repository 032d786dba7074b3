/// A second tier that all stores of one directory share: the last of these stores closes it, in two steps.
package protocol SharedTier: SecondTier {
  /// Ends the opening at once: partitions answer misses and refuse writes from now on. True for the first call, which must
  /// be followed by ``release()``.
  func detach() -> Bool

  /// Releases the tier's resources after ``detach()``. Returns when they are released, unless another opening uses them.
  func release() async
}
