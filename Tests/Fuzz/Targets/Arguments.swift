import Cistern

import InputFormats

/// Feeds arbitrary text to the program's arguments. They refuse it or parse a value within bounds.
func fuzzArguments(_ input: [UInt8]) {
  let text = String(decoding: input, as: UTF8.self)
  if let size = try? ByteCount(argument: text) {
    require(size.bytes >= 0, "'\(text)' is \(size.bytes) bytes")
    // Whole numbers of bytes are exact.
    if let whole = Int(text), whole >= 0 { require(size.bytes == whole, "'\(text)' is \(size.bytes) bytes") }
  }
  if let size = try? ByteCount.positive(text) { require(size.bytes > 0, "'\(text)' is above zero") }
  if let duration = try? Duration.argument(text) {
    require(duration >= .zero && duration <= .seconds(366 * 86_400), "'\(text)' is \(duration)")
    require(duration.seconds >= 0 && duration.nanoseconds <= 366 * 86_400 * 1_000_000_000, "'\(text)' is \(duration)")
  }
  if let duration = try? Duration.positiveArgument(text) { require(duration > .zero, "'\(text)' is above zero") }
  if let number = try? integerArgument(text, in: -5...1_000) { require((-5...1_000).contains(number), "\(number)") }
  if let share = try? shareArgument(text) { require((0...1).contains(share), "'\(text)' is \(share)") }
  if let limit = try? ReplayLimit(argument: text) {
    require(limit.cost(footprint: 0) >= 1 && limit.cost(footprint: 1 << 50) >= 1, "'\(text)' is a limit without space")
  }
  fuzzKeyText(input, text)
  fuzzTimestamp(input, text)
}

private func fuzzKeyText(_ input: [UInt8], _ text: String) {
  if let bytes = try? KeyText.bytes(hexadecimal: text) {
    require((try? KeyText.bytes(hexadecimal: KeyText.hexadecimal(bytes))) == bytes, "'\(text)' is other bytes")
  }
  require((try? KeyText.bytes(hexadecimal: KeyText.hexadecimal(input))) == input, "bytes in hexadecimal are others")
  require(KeyText.describe(input).unicodeScalars.allSatisfy { $0.value >= 0x20 }, "a control character is shown")
}

private func fuzzTimestamp(_ input: [UInt8], _ text: String) {
  if let time = TimestampText.parse(text) {
    let written = TimestampText.format(time)
    require(written.prefix(19) == text.prefix(19), "'\(text)' is read as \(written)")
    require(TimestampText.parse(written) == time, "\(written) is read as another time")
    let digits = text.dropFirst(20).dropLast()
    require(written.dropFirst(20).prefix(digits.count) == digits, "'\(text)' is read as \(written)")
  }
  var source = ByteSource(input)
  // Within the years that can be parsed.
  let nanoseconds = source.number(Int64.self) % 9_200_000_000_000_000_000
  let written = TimestampText.format(WallTime(nanosecondsSince1970: nanoseconds))
  let read = TimestampText.parse(written)
  require(
    read?.nanosecondsSince1970 == nanoseconds || written < "1678-01-02" || written > "2261-12-30",
    "\(nanoseconds) is written as \(written)")
}
