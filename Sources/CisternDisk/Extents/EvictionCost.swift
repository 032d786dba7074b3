/// The costs of evicting records because of their place, and not of their age.
struct EvictionCost: Sendable {
  /// The newest bytes cost so many times as much as the oldest ones.
  private static let newestFactor = 8.0

  /// Returns a cost above that of all values in a window. The values at its ends can have further pages outside of it.
  ///
  /// - Parameter bytes: The size of the window.
  /// - Returns: The cost.
  static func highest(inWindowOf bytes: Int) -> Int { 2 * Int(newestFactor) * bytes }

  /// For each age, the share of all bytes that are newer.
  private var newerShares: [ExtentAge: Double] = [:]

  /// Creates the costs for a file with these live bytes and their ages.
  init(_ values: [(age: ExtentAge, bytes: Int)]) {
    let total = Double(max(values.reduce(0) { $0 + $1.bytes }, 1))
    var newer = 0
    for (age, bytes) in values.sorted(by: { $0.age > $1.age }) {
      if newerShares[age] == nil { newerShares[age] = Double(newer) / total }
      newer += bytes
    }
  }

  /// Returns the cost of evicting bytes.
  ///
  /// A value that was read counts as half as old. The newest one costs most in any case: otherwise the large values of
  /// a commit group would displace each other.
  ///
  /// - Parameters:
  ///   - bytes: The number of bytes.
  ///   - age: Their age.
  ///   - isUsed: Whether they were read.
  /// - Returns: The cost.
  func cost(of bytes: Int, age: ExtentAge, isUsed: Bool = false) -> Int {
    let newerShare = (newerShares[age] ?? 0) / (isUsed ? 2 : 1)
    return Int(Double(bytes) * (Self.newestFactor - (Self.newestFactor - 1) * newerShare))
  }
}
