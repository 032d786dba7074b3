/// Parses JSON (RFC 8259), one byte at a time.
struct JSONReader {
  private let text: [UInt8]
  private var position = 0
  private var depth = 0
  // Limits the recursion, because each level uses a stack frame.
  private static let deepest = 512

  init(_ text: [UInt8]) {
    self.text = text
  }

  mutating func document() throws(JSONSyntaxError) -> JSONValue {
    let value = try value()
    skipSpace()
    guard position == text.count else { throw expected("the end of the text") }
    return value
  }

  private mutating func value() throws(JSONSyntaxError) -> JSONValue {
    skipSpace()
    switch peek {
    case UInt8(ascii: "{"): return try nested { reader throws(JSONSyntaxError) in .object(try reader.object()) }
    case UInt8(ascii: "["): return try nested { reader throws(JSONSyntaxError) in .array(try reader.array()) }
    case UInt8(ascii: "\""): return .string(String(decoding: try string(), as: UTF8.self))
    case UInt8(ascii: "t"): return try word("true", .boolean(true))
    case UInt8(ascii: "f"): return try word("false", .boolean(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return .number(try number())
    }
  }

  private mutating func nested(
    _ read: (inout JSONReader) throws(JSONSyntaxError) -> JSONValue
  ) throws(JSONSyntaxError) -> JSONValue {
    depth += 1
    guard depth <= Self.deepest else { throw expected("at most \(Self.deepest) levels of nesting") }
    defer { depth -= 1 }
    position += 1
    return try read(&self)
  }

  private mutating func object() throws(JSONSyntaxError) -> JSONObject {
    var object = JSONObject()
    skipSpace()
    if take("}") { return object }
    while true {
      skipSpace()
      guard peek == UInt8(ascii: "\"") else { throw expected("a member name in quotation marks") }
      let name = try string()
      skipSpace()
      guard take(":") else { throw expected("a colon") }
      object[utf8: name] = try value()
      skipSpace()
      if take("}") { return object }
      guard take(",") else { throw expected("a comma or a closing brace") }
    }
  }

  private mutating func array() throws(JSONSyntaxError) -> [JSONValue] {
    var array: [JSONValue] = []
    skipSpace()
    if take("]") { return array }
    while true {
      array.append(try value())
      skipSpace()
      if take("]") { return array }
      guard take(",") else { throw expected("a comma or a closing bracket") }
    }
  }

  private mutating func word(_ word: String, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
    guard text[position...].starts(with: word.utf8) else { throw expected("a value") }
    position += word.utf8.count
    return value
  }

  private mutating func number() throws(JSONSyntaxError) -> String {
    let start = position
    _ = take("-")
    guard let first = peek, isDigit(first) else { throw expected("a value") }
    position += 1
    if first != UInt8(ascii: "0") { skipDigits() }
    if take(".") { try digits() }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      try digits()
    }
    return String(decoding: text[start..<position], as: UTF8.self)
  }

  private mutating func digits() throws(JSONSyntaxError) {
    guard let first = peek, isDigit(first) else { throw expected("a digit") }
    skipDigits()
  }

  private mutating func skipDigits() {
    while let byte = peek, isDigit(byte) { position += 1 }
  }

  private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

// MARK: Strings

extension JSONReader {
  /// Returns the UTF-8 of a string after resolving its escapes.
  private mutating func string() throws(JSONSyntaxError) -> [UInt8] {
    let start = position
    position += 1
    var bytes: [UInt8] = []
    while let byte = peek {
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard String(validating: bytes, as: UTF8.self) != nil else {
          position = start
          throw expected("a string in valid UTF-8")
        }
        return bytes
      case UInt8(ascii: "\\"): bytes += String(try escape()).utf8
      case 0..<0x20:
        position -= 1
        throw expected("an escape sequence instead of a control character")
      default: bytes.append(byte)
      }
    }
    throw expected("a closing quotation mark")
  }

  private mutating func escape() throws(JSONSyntaxError) -> Unicode.Scalar {
    guard let byte = peek else { throw expected("a valid escape sequence") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape()
    default:
      position -= 1
      throw expected("a valid escape sequence")
    }
  }

  private mutating func unicodeEscape() throws(JSONSyntaxError) -> Unicode.Scalar {
    let first = try hexadecimal()
    if let scalar = Unicode.Scalar(first) { return scalar }
    // The first half of a surrogate pair must be followed by the second half.
    guard first < 0xDC00, take("\\"), take("u") else { throw expected("the second half of a surrogate pair") }
    let second = try hexadecimal()
    guard (0xDC00..<0xE000).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw expected("the second half of a surrogate pair") }
    return scalar
  }

  private mutating func hexadecimal() throws(JSONSyntaxError) -> UInt32 {
    var number: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw expected("four hexadecimal digits")
      }
      position += 1
      number = number << 4 | UInt32(digit)
    }
    return number
  }

  // MARK: Bytes

  private var peek: UInt8? { position < text.count ? text[position] : nil }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard peek == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  private func expected(_ element: String) -> JSONSyntaxError { JSONSyntaxError(offset: position, expected: element) }
}
