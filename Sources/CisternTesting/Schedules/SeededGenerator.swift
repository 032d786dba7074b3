/// Random numbers that depend on a seed and nothing else, the same on every machine.
///
/// The SplitMix64 generator of Steele, Lea and Flood ("Fast splittable pseudorandom number generators", 2014). Good for
/// tests; not for secrets.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates the generator of this seed. Neighbouring seeds give unrelated numbers.
  public init(seed: UInt64) {
    state = seed
  }

  /// The next number.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number from 0 up to, and without, `bound`, which must be positive.
  public mutating func next(below bound: Int) -> Int {
    Int(next(upperBound: UInt64(bound)))
  }
}
