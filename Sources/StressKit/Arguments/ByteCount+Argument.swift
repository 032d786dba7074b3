import ArgumentParser
import Cistern

extension ByteCount {
  /// What a size on the command line may look like; part of every help text that asks for one.
  static let argumentForm = "bytes, or with a unit: 64MiB, 1GiB (1,024s), 512KB (1,000s)"

  /// Parses a size: a whole or decimal number and a unit, or plain bytes. `K`, `M`, `G` and `T` alone are the binary
  /// units.
  init(argument: String) throws {
    if argument.hasPrefix("-") { throw ValidationError("'\(argument)' is negative; a size is above zero.") }
    let text = argument.filter { $0 != " " && $0 != "_" }
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = text.dropFirst(digits.count).lowercased()
    guard let scale = ByteCount.scales[unit] else {
      throw ValidationError("'\(argument)' is no size: expected \(ByteCount.argumentForm).")
    }
    guard let number = Double(digits), number.isFinite else {
      throw ValidationError("'\(argument)' is no size: expected \(ByteCount.argumentForm).")
    }
    // A whole number is taken exactly; a decimal one only as far as a Double reaches.
    let product: (partialValue: Int, overflow: Bool) =
      if let whole = Int(digits) {
        whole.multipliedReportingOverflow(by: scale)
      } else {
        number * Double(scale) < Double(Int.max) ? (Int(number * Double(scale)), false) : (0, true)
      }
    guard !product.overflow else { throw ValidationError("'\(argument)' is larger than a size can be.") }
    self.init(bytes: product.partialValue)
  }

  /// Parses a size that must be above zero.
  static func positive(_ argument: String) throws -> ByteCount {
    let count = try ByteCount(argument: argument)
    guard count.bytes > 0 else { throw ValidationError("'\(argument)' must be above zero.") }
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
