#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// SplitMix64 by Steele, Lea and Flood. It gives the same numbers for the same seed on every platform.
package struct Randomness: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) {
    state = seed
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Ranks by Zipf's law: the probability of rank `r` is proportional to `1 / r^exponent`.
package struct ZipfRanks {
  private let cumulative: [Double]

  /// Creates the distribution in time and memory proportional to `count`.
  package init(count: Int, exponent: Double = 0.99) {
    var sum = 0.0
    cumulative = (1...count).map { rank in
      sum += 1 / pow(Double(rank), exponent)
      return sum
    }
  }

  /// Draws `count` ranks, beginning at 0.
  package func draw(_ count: Int, seed: UInt64) -> [Int] {
    var randomness = Randomness(seed: seed)
    let total = cumulative[cumulative.count - 1]
    return (0..<count).map { _ in
      let point = Double.random(in: 0..<total, using: &randomness)
      var low = 0
      var high = cumulative.count - 1
      while low < high {
        let middle = (low + high) / 2
        if cumulative[middle] < point { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }
}
