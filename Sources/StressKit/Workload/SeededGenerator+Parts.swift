import CisternTesting

extension SeededGenerator {
  /// Creates a generator for the part `index` of a run. The sequences of different parts are unrelated.
  init(seed: UInt64, index: Int) {
    var mixer = SeededGenerator(seed: seed ^ (UInt64(bitPattern: Int64(index)) &* 0xD1B5_4A32_D192_ED03))
    self.init(seed: mixer.next())
  }

  /// Returns a random number in the range `0..<1`.
  mutating func nextFraction() -> Double {
    Double(next() >> 11) * 0x1p-53
  }
}
