import CisternTesting

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A generator of ranks from 0 to `count - 1`. The probability of rank r is proportional to 1 / (r + 1)^exponent.
///
/// The algorithm is the rejection-inversion of Wolfgang Hörmann and Gerhard Derflinger (1996). It needs constant
/// time and memory for every count, and for every exponent from 0 (equal probabilities), including 1.
struct Zipf: Sendable {
  let count: Int
  let exponent: Double
  private let integralAtFirst: Double
  private let integralAtLast: Double
  private let shortcut: Double

  /// - Precondition: `count` is greater than zero, and `exponent` is not negative.
  init(count: Int, exponent: Double) {
    precondition(count > 0 && exponent >= 0)
    self.count = count
    self.exponent = exponent
    integralAtFirst = Zipf.integral(1.5, exponent) - 1
    integralAtLast = Zipf.integral(Double(count) + 0.5, exponent)
    shortcut = 2 - Zipf.inverse(Zipf.integral(2.5, exponent) - Zipf.density(2, exponent), exponent)
  }

  /// Returns a random rank. Rank 0 is the most likely.
  func next(using generator: inout SeededGenerator) -> Int {
    while true {
      let area = integralAtLast + generator.nextFraction() * (integralAtFirst - integralAtLast)
      let point = Zipf.inverse(area, exponent)
      let rank = min(max(point.rounded(), 1), Double(count))
      if rank - point <= shortcut || area >= Zipf.integral(rank + 0.5, exponent) - Zipf.density(rank, exponent) {
        return Int(rank) - 1
      }
    }
  }

  private static func density(_ point: Double, _ exponent: Double) -> Double {
    exp(-exponent * log(point))
  }

  /// The integral of the density, in a form that stays exact when the exponent is close to 1.
  private static func integral(_ point: Double, _ exponent: Double) -> Double {
    let logarithm = log(point)
    return growth((1 - exponent) * logarithm) * logarithm
  }

  private static func inverse(_ area: Double, _ exponent: Double) -> Double {
    let scaled = max(area * (1 - exponent), -1)
    return exp(logarithmicGrowth(scaled) * area)
  }

  /// (e^x − 1) / x, and its limit near 0.
  private static func growth(_ x: Double) -> Double {
    abs(x) > 1e-8 ? expm1(x) / x : 1 + x / 2 * (1 + x / 3)
  }

  /// ln(1 + x) / x, and its limit near 0.
  private static func logarithmicGrowth(_ x: Double) -> Double {
    abs(x) > 1e-8 ? log1p(x) / x : 1 - x * (0.5 - x / 3)
  }
}
