import ArgumentParser
import CisternCore

/// A key on the command line: a text, or bytes in hexadecimal.
package struct KeyArgument: ParsableArguments {
  @Argument(help: "The key. Write -- before a key that begins with a hyphen.")
  var key: String

  @Flag(help: "The key is in hexadecimal. Use this for keys that are not text, for example numbers.")
  var hex = false

  package init() {}

  // The check is also here, and not only in `run`, so that the error message includes the usage of the command.
  package func validate() throws {
    _ = try bytes()
  }

  package func bytes() throws -> [UInt8] {
    try KeyText.bytes(key, isHexadecimal: hex)
  }
}

/// Conversions between keys and text.
package enum KeyText {
  /// Returns a printable form of a key. Other bytes become `\x` and two digits, and each backslash is doubled.
  package static func describe(_ key: [UInt8]) -> String {
    if let text = String(validating: key, as: UTF8.self), !text.unicodeScalars.contains(where: isUnprintable) {
      return text.replacing("\\", with: "\\\\")
    }
    return key.map { byte in
      switch byte {
      case UInt8(ascii: "\\"): "\\\\"
      case 0x20..<0x7F: String(UnicodeScalar(byte))
      default: "\\x" + hexadecimal([byte])
      }
    }.joined()
  }

  /// Returns a printable form of a name.
  package static func describe(_ name: String) -> String { describe(Array(name.utf8)) }

  package static func hexadecimal(_ key: [UInt8]) -> String {
    key.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  /// Returns the bytes of a key that is given as text or in hexadecimal. A text gives the same bytes as in a cache
  /// with strings as keys.
  package static func bytes(_ text: String, isHexadecimal: Bool = false) throws -> [UInt8] {
    isHexadecimal ? try bytes(hexadecimal: text) : text.withKeyBytes { $0.copiedBytes() }
  }

  /// Returns the text in its composed Unicode form. Stores use this form for keys and names.
  package static func composed(_ text: String) -> String {
    String(decoding: text.withKeyBytes { $0.copiedBytes() }, as: UTF8.self)
  }

  package static func bytes(hexadecimal text: String) throws -> [UInt8] {
    let digits = text.map(\.hexDigitValue)
    guard digits.count.isMultiple(of: 2), !digits.contains(nil) else {
      throw ValidationError("'\(text)' is not hexadecimal: expected two digits for each byte.")
    }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0]! << 4 | digits[$0 + 1]!) }
  }

  private static func isUnprintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .unassigned, .surrogate, .privateUse, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
