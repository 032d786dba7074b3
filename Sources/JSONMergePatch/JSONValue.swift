/// A JSON value. Numbers keep their text, so no digits are lost.
public enum JSONValue: Sendable, Hashable {
  /// The value `null`.
  case null
  /// The value `true` or `false`.
  case boolean(Bool)
  /// A number, as its text.
  case number(String)
  /// A string.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object.
  case object(JSONObject)

  /// Parses a JSON text (RFC 8259). If several members of an object have the same name, the last one counts.
  ///
  /// - Parameter text: The text in UTF-8.
  /// - Throws: ``JSONSyntaxError`` if the text is not JSON or has more than 512 levels of nesting.
  /// - Complexity: O(n) for n bytes.
  public init(parsing text: [UInt8]) throws(JSONSyntaxError) {
    var reader = JSONReader(text)
    self = try reader.document()
  }

  /// The JSON text without white space. The members of objects are sorted by the bytes of their names.
  public var text: [UInt8] {
    var writer = JSONWriter()
    writer.write(self)
    return writer.text
  }
}

/// Values are equal if their Unicode scalars are equal. A precomposed and a decomposed accent are different, so a
/// merge from one to the other is a change.
extension JSONValue {
  /// Returns whether both values have the same text.
  public static func == (one: JSONValue, other: JSONValue) -> Bool {
    switch (one, other) {
    case (.null, .null): true
    case (.boolean(let one), .boolean(let other)): one == other
    case (.number(let one), .number(let other)), (.string(let one), .string(let other)):
      one.utf8.count == other.utf8.count && one.utf8.elementsEqual(other.utf8)
    case (.array(let one), .array(let other)): one == other
    case (.object(let one), .object(let other)): one == other
    default: false
    }
  }

  /// Hashes the text.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .boolean(let isTrue): hasher.combine(isTrue)
    case .number(let text), .string(let text):
      for byte in text.utf8 { hasher.combine(byte) }
    case .array(let elements): hasher.combine(elements)
    case .object(let object): hasher.combine(object)
    }
  }
}
