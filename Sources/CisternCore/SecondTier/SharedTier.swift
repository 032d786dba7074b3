/// A second tier that all stores of one directory share. The last of these stores closes it, in two steps.
package protocol SharedTier: SecondTier {
  /// Ends the opening. From now on, its partitions answer misses and refuse writes.
  ///
  /// - Returns: True for the first call. Its caller must then call ``release()``.
  func detach() -> Bool

  /// Releases the tier's resources after ``detach()``. Returns when they are released, unless another opening uses
  /// them.
  func release() async
}
