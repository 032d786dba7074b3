import ArgumentParser

/// Parses a whole number in `range`. The error message names the range.
package func integerArgument(_ text: String, in range: ClosedRange<Int>) throws -> Int {
  guard let number = Int(text.filter { $0 != "_" && $0 != "," }), range.contains(number) else {
    let allowed =
      range.upperBound == .max ? "of at least \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
    throw ValidationError("'\(text)' must be a whole number \(allowed).")
  }
  return number
}

/// Parses a seed: an unsigned number of 64 bits.
package func seedArgument(_ text: String) throws -> UInt64 {
  guard let seed = UInt64(text) else {
    throw ValidationError("'\(text)' must be a whole number from 0 to \(UInt64.max).")
  }
  return seed
}

/// Parses a fraction: a number from 0 to 1, or a percentage.
package func shareArgument(_ text: String) throws -> Double {
  let isPercentage = text.hasSuffix("%")
  guard let number = Double(isPercentage ? text.dropLast() : text[...]) else {
    throw ValidationError("'\(text)' is not a fraction: expected a number from 0 to 1, or a percentage such as 2%.")
  }
  let share = isPercentage ? number / 100 : number
  guard (0...1).contains(share) else { throw ValidationError("'\(text)' must be between 0 and 1, or 0% and 100%.") }
  return share
}
