import CisternCore

/// Conversions between times of day and text with nanoseconds: `2026-11-21T09:17:09.123456789Z`.
package enum TimestampText {
  private static let nanosecondsPerDay: Int64 = 86_400_000_000_000

  /// Removes the fraction from a text that ``format(_:)`` returned: `2026-11-21T09:17:09Z`.
  package static func removingFraction(from text: String) -> String {
    text.prefix { $0 != "." } + "Z"
  }

  package static func format(_ time: WallTime) -> String {
    let (days, rest) = floorDivision(time.nanosecondsSince1970, by: nanosecondsPerDay)
    let date = Date(days: days)
    let (seconds, fraction) = rest.quotientAndRemainder(dividingBy: 1_000_000_000)
    let clock = [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }.joined(separator: ":")
    return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T\(clock).\(padded(fraction, 9))Z"
  }

  /// The years in which every time fits 64 bits of nanoseconds since 1970.
  package static let years: ClosedRange<Int64> = 1_678...2_261

  /// Parses a time. The fraction can be shorter, or absent.
  ///
  /// Returns nil if the text is not a time in ``years``.
  package static func parse(_ text: String) -> WallTime? {
    guard let (year, seconds, fraction) = parts(of: text), years.contains(year) else { return nil }
    return WallTime(nanosecondsSince1970: seconds * 1_000_000_000 + fraction)
  }

  /// Returns whether the text is a time in another year than those of ``years``.
  package static func isOutOfRange(_ text: String) -> Bool {
    parts(of: text).map { !years.contains($0.year) } ?? false
  }

  private static func parts(of text: String) -> (year: Int64, seconds: Int64, fraction: Int64)? {
    let format = /(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?Z/.asciiOnlyDigits()
    guard let match = text.wholeMatch(of: format),
      let year = Int64(match.1), let month = Int64(match.2), let day = Int64(match.3), let hour = Int64(match.4),
      let minute = Int64(match.5), let second = Int64(match.6), (1...12).contains(month), hour < 24, minute < 60,
      second < 60
    else { return nil }
    let days = Date(year: year, month: month, day: day).days
    // A day that the month does not have gives another date.
    guard Date(days: days).day == day, Date(days: days).month == month else { return nil }
    let digits = match.7.map(String.init) ?? ""
    guard let fraction = Int64(digits + String(repeating: "0", count: 9 - digits.count)) else { return nil }
    return (year, days * 86_400 + hour * 3_600 + minute * 60 + second, fraction)
  }

  /// A date of the Gregorian calendar. The conversions are those of Howard Hinnant, "chrono-Compatible Low-Level
  /// Date Algorithms".
  private struct Date {
    var year: Int64
    var month: Int64
    var day: Int64

    init(year: Int64, month: Int64, day: Int64) {
      self.year = year
      self.month = month
      self.day = day
    }

    /// Creates the date this number of days after 1970-01-01.
    init(days: Int64) {
      let (era, dayOfEra) = floorDivision(days + 719_468, by: 146_097)
      let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
      let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
      let shifted = (5 * dayOfYear + 2) / 153
      day = dayOfYear - (153 * shifted + 2) / 5 + 1
      month = shifted < 10 ? shifted + 3 : shifted - 9
      year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The number of days since 1970-01-01.
    var days: Int64 {
      let shiftedYear = month <= 2 ? year - 1 : year
      let (era, yearOfEra) = floorDivision(shiftedYear, by: 400)
      let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
      return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
  }

  private static func floorDivision(_ number: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
