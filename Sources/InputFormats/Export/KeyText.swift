import ArgumentParser
import CisternCore

/// Conversions between keys and text.
package enum KeyText {
  /// Returns the key as text if it is printable.
  ///
  /// Otherwise, bytes outside of printable ASCII become `\x` and two hexadecimal digits. Backslashes are doubled in
  /// both cases.
  package static func describe(_ key: [UInt8]) -> String {
    if let text = String(validating: key, as: UTF8.self), !text.unicodeScalars.contains(where: isUnprintable) {
      return text.replacing("\\", with: "\\\\")
    }
    return escaped(key)
  }

  /// Returns a text that is different for every key: the key itself if possible, and otherwise with escapes.
  ///
  /// Strings that differ only in their Unicode form are equal, so only the composed form is returned without escapes.
  package static func distinct(_ key: [UInt8]) -> String {
    if !key.contains(UInt8(ascii: "\\")), let text = String(validating: key, as: UTF8.self),
      Array(composed(text).utf8) == key
    {
      return text
    }
    return escaped(key)
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
