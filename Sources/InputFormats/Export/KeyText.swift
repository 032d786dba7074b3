import ArgumentParser
import CisternCore

/// Conversions between keys and text.
package enum KeyText {
  /// Returns a printable text that is different for every key: the key itself if possible, and otherwise with escapes.
  ///
  /// The key itself is the text of ``composedText(_:)``. In a text with escapes, bytes
  /// outside of printable ASCII are `\x` and two hexadecimal digits, and backslashes are doubled. A key that looks like
  /// a text with escapes has escapes, too.
  package static func describe(_ key: [UInt8]) -> String {
    guard !hasEscape(key), let text = composedText(key), !text.unicodeScalars.contains(where: isUnprintable)
    else { return escaped(key) }
    return text
  }

  /// Returns a text that is different for every key, and may be unprintable. A key without backslashes is the text
  /// itself if possible. Other keys have escapes.
  package static func distinct(_ key: [UInt8]) -> String {
    guard !key.contains(UInt8(ascii: "\\")), let text = composedText(key) else { return escaped(key) }
    return text
  }

  /// Returns the text that ``bytes(_:isHexadecimal:)`` turns into this key; nil for a key without one. Strings that differ
  /// only in their Unicode form are equal, so the text is in the composed form.
  package static func composedText(_ key: [UInt8]) -> String? {
    guard let text = String(validating: key, as: UTF8.self), Array(composed(text).utf8) == key else { return nil }
    return text
  }

  private static func escaped(_ key: [UInt8]) -> String {
    key.map { byte in
      switch byte {
      case UInt8(ascii: "\\"): "\\\\"
      case 0x20..<0x7F: String(UnicodeScalar(byte))
      default: "\\x" + hexadecimal([byte])
      }
    }.joined()
  }

  /// Returns a printable form of a name. Names that differ only in their Unicode form are equal.
  package static func describe(_ name: String) -> String { describe(Array(composed(name).utf8)) }

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

  /// Whether the bytes contain `\x` and two hexadecimal digits.
  private static func hasEscape(_ key: [UInt8]) -> Bool {
    key.indices.dropLast(3).contains { index in
      key[index] == UInt8(ascii: "\\") && key[index + 1] == UInt8(ascii: "x")
        && key[index + 2...index + 3].allSatisfy { Character(UnicodeScalar($0)).hexDigitValue != nil }
    }
  }

  private static func isUnprintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .unassigned, .surrogate, .privateUse, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
