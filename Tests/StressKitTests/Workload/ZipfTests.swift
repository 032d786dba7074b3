import CisternTesting
import Testing

@testable import StressKit

@Suite struct ZipfTests {
  @Test(arguments: [0.0, 0.5, 0.99, 1.0, 1.5, 3.0])
  func `ranks occur as often as the law predicts`(exponent: Double) {
    let count = 50
    let draws = 200_000
    let zipf = Zipf(count: count, exponent: exponent)
    var generator = SeededGenerator(seed: 1)
    var counts = [Int](repeating: 0, count: count)
    for _ in 0..<draws { counts[zipf.next(using: &generator)] += 1 }
    let weights = (1...count).map { power(Double($0), -exponent) }
    let total = weights.reduce(0, +)
    // Pearson's chi-squared over 49 degrees of freedom. It exceeds 100 once in 20,000 times, and the seed is fixed.
    let distance = zip(counts, weights).reduce(0.0) { sum, pair in
      let expected = pair.1 / total * Double(draws)
      return sum + (Double(pair.0) - expected) * (Double(pair.0) - expected) / max(expected, 1e-9)
    }
    #expect(distance < 100)
  }

  @Test func `a single key is always chosen`() {
    let zipf = Zipf(count: 1, exponent: 0.99)
    var generator = SeededGenerator(seed: 3)
    #expect((0..<100).allSatisfy { _ in zipf.next(using: &generator) == 0 })
  }

  @Test func `ranks stay in range for millions of keys`() {
    let zipf = Zipf(count: 10_000_000, exponent: 0.2)
    var generator = SeededGenerator(seed: 4)
    #expect((0..<100_000).allSatisfy { _ in (0..<10_000_000).contains(zipf.next(using: &generator)) })
  }

  @Test func `equal seeds choose equal keys`() {
    func choices(_ seed: UInt64) -> [Int] {
      let chooser = KeyChooser(keyCount: 1_000, exponent: 0.99, seed: seed)
      var generator = SeededGenerator(seed: seed, index: 0)
      return (0..<100).map { _ in chooser.next(using: &generator) }
    }
    #expect(choices(7) == choices(7))
    #expect(choices(7) != choices(8))
  }

  private func power(_ base: Double, _ exponent: Double) -> Double {
    var result = 1.0
    var (whole, fraction) = (exponent.magnitude.rounded(.down), exponent.magnitude)
    fraction -= whole
    while whole > 0 {
      result *= base
      whole -= 1
    }
    // The repeated square roots are the factors of the binary digits after the point.
    var root = base
    for _ in 0..<40 {
      root = root.squareRoot()
      fraction *= 2
      if fraction >= 1 {
        result *= root
        fraction -= 1
      }
    }
    return exponent < 0 ? 1 / result : result
  }
}
