/// A generator of random numbers that depend only on a seed, and are the same on every machine.
///
/// It is the SplitMix64 generator of Steele, Lea and Flood ("Fast splittable pseudorandom number generators",
/// 2014). It is suitable for tests, but not for secrets.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator.
  ///
  /// - Parameter seed: The seed. Adjacent seeds give unrelated numbers.
  public init(seed: UInt64) {
    state = seed
  }

  /// Returns the next random number.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns a random number in the range `0..<bound`.
  ///
  /// - Parameter bound: The upper bound.
  /// - Returns: The number.
  /// - Precondition: `bound` is positive.
  public mutating func next(below bound: Int) -> Int {
    Int(next(upperBound: UInt64(bound)))
  }
}
