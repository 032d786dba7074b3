/// A small seeded generator. The same seed gives the same numbers on every machine. The algorithm is Sebastiano
/// Vigna's SplitMix64.
struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  /// Creates a generator for the part `index` of a run. The sequences of different parts are unrelated.
  init(seed: UInt64, index: Int) {
    var mixer = SplitMix64(seed: seed ^ (UInt64(bitPattern: Int64(index)) &* 0xD1B5_4A32_D192_ED03))
    state = mixer.next()
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns a random number in the range `0..<1`.
  mutating func unit() -> Double {
    Double(next() >> 11) * 0x1p-53
  }

  /// Returns a random whole number in the range `0..<bound`.
  mutating func index(below bound: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }
}
