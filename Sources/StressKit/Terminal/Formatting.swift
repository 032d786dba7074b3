import Foundation

/// Formats of numbers in reports.
enum Formatting {
  /// Formats a whole number with groups of three digits: "2,000,000".
  static func count(_ number: Int) -> String {
    var digits = String(number.magnitude)
    var groups: [String] = []
    while digits.count > 3 {
      groups.insert(String(digits.suffix(3)), at: 0)
      digits.removeLast(3)
    }
    return (number < 0 ? "-" : "") + ([digits] + groups).joined(separator: ",")
  }

  /// Formats a number of things: "1 record", "2,000 records". The plural is the singular with an "s" if it is nil.
  static func count(_ number: Int, _ singular: String, _ plural: String? = nil) -> String {
    "\(count(number)) \(number == 1 ? singular : plural ?? singular + "s")"
  }

  /// Formats a time with a unit that leaves at most three digits before the decimal point: "1.24 ms".
  static func time(nanoseconds: UInt64) -> String {
    guard nanoseconds >= 1_000 else { return "\(nanoseconds) ns" }
    let value = Double(nanoseconds)
    // A value that would be rounded to 1,000 has the next unit.
    for (unit, scale) in [("µs", 1e3), ("ms", 1e6)] where value / scale < 999.5 {
      return "\(significant(value / scale)) \(unit)"
    }
    return significant(value / 1e9) + " s"
  }

  /// Formats a fraction as a percentage with one decimal. The result is a dash if `whole` is zero.
  static func percentage(_ part: Int, of whole: Int) -> String {
    whole == 0 ? "–" : fixed(Double(part) / Double(whole) * 100, decimals: 1) + " %"
  }

  /// Formats a number with exactly this many decimals.
  static func fixed(_ value: Double, decimals: Int) -> String {
    String(format: "%.\(decimals)f", value)
  }

  private static func significant(_ value: Double) -> String {
    // A value that would be rounded to 10 or 100 has the decimals of that number.
    fixed(value, decimals: value < 9.995 ? 2 : value < 99.95 ? 1 : 0)
  }
}
