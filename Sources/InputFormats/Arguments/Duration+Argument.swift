import ArgumentParser

extension Duration {
  /// The accepted forms of a time, for help texts and error messages.
  package static let argumentForm = "seconds, or a number with a unit: 250us, 5ms, 20s, 3m, 1h"

  /// Parses a time that is not negative: a whole or decimal number with a unit, or a number of seconds.
  package static func argument(_ argument: String) throws -> Duration {
    if argument.hasPrefix("-") { throw ValidationError("'\(argument)' is negative: expected \(argumentForm).") }
    let text = argument.filter { $0 != " " }
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let scales = ["": 1.0, "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "m": 60, "min": 60, "h": 3_600]
    guard let scale = scales[text.dropFirst(digits.count).lowercased()], let number = Double(digits) else {
      throw ValidationError("'\(argument)' is not a time: expected \(argumentForm).")
    }
    guard number * scale <= 366 * 86_400 else { throw ValidationError("'\(argument)' is longer than 366 days.") }
    return .seconds(number * scale)
  }

  /// Parses a time that is greater than zero.
  package static func positiveArgument(_ text: String) throws -> Duration {
    let duration = try argument(text)
    guard duration > .zero else { throw ValidationError("'\(text)' must be greater than zero.") }
    return duration
  }

  /// The length in seconds.
  package var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }

  /// The length in whole nanoseconds, or 0 if the duration is negative.
  package var nanoseconds: UInt64 {
    UInt64(max(0, components.seconds)) * 1_000_000_000 + UInt64(max(0, components.attoseconds)) / 1_000_000_000
  }
}
