import ArgumentParser
import CisternCore

extension ByteCount {
  /// The accepted forms of a size, for help texts and error messages.
  package static let argumentForm = "bytes, or a number with a unit: 64MiB and 1GiB are binary, 512KB is decimal"

  /// Parses a size: a whole or decimal number with a unit, or a number of bytes. The units `K`, `M`, `G` and `T`
  /// are binary.
  package init(argument: String) throws {
    if argument.hasPrefix("-") { throw ValidationError("'\(argument)' is negative: expected a size above zero.") }
    let text = argument.filter { $0 != " " && $0 != "_" }
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = text.dropFirst(digits.count).lowercased()
    guard let scale = ByteCount.scales[unit] else {
      throw ValidationError("'\(argument)' is not a size: expected \(ByteCount.argumentForm).")
    }
    guard let number = Double(digits), number.isFinite else {
      throw ValidationError("'\(argument)' is not a size: expected \(ByteCount.argumentForm).")
    }
    // A whole number is exact. A decimal number has the precision of a `Double`.
    let product: (partialValue: Int, overflow: Bool) =
      if let whole = Int(digits) {
        whole.multipliedReportingOverflow(by: scale)
      } else {
        number * Double(scale) < Double(Int.max) ? (Int(number * Double(scale)), false) : (0, true)
      }
    guard !product.overflow else { throw ValidationError("'\(argument)' is too large for a size.") }
    self.init(bytes: product.partialValue)
  }

  /// Parses a size that is greater than zero.
  package static func positive(_ argument: String) throws -> ByteCount {
    let count = try ByteCount(argument: argument)
    guard count.bytes > 0 else { throw ValidationError("'\(argument)' must be greater than zero.") }
    return count
  }

  private static let scales: [String: Int] = {
    var scales = ["": 1, "b": 1]
    for (power, letter) in ["k", "m", "g", "t"].enumerated() {
      let binary = 1 << (10 * (power + 1))
      scales[letter] = binary
      scales[letter + "ib"] = binary
      scales[letter + "b"] = (0...power).reduce(1) { product, _ in product * 1_000 }
    }
    return scales
  }()
}
