/// Any JSON value, with nothing rounded: numbers keep their text.
public enum JSONValue: Sendable, Hashable {
  /// `null`.
  case null
  /// `true` or `false`.
  case boolean(Bool)
  /// A number, as it is written.
  case number(String)
  /// A string.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object.
  case object(JSONObject)

  /// Reads a JSON text (RFC 8259). O(n).
  ///
  /// Throws ``JSONSyntaxError`` for what is not JSON, or nested more than 512 deep. Of members of one name the last counts.
  public init(parsing text: [UInt8]) throws(JSONSyntaxError) {
    var reader = JSONReader(text)
    self = try reader.document()
  }

  /// The JSON text: no white space, the members of objects in the order of their names' bytes.
  public var text: [UInt8] {
    var writer = JSONWriter()
    writer.write(self)
    return writer.text
  }
}

/// By code points: é and e with its accent are two texts, and a merge from one to the other is a change.
extension JSONValue {
  /// Whether both have the same text.
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

/// The members of a JSON object, without an order. Names are told apart by their code points.
public struct JSONObject: Sendable, Hashable {
  // By the names' UTF-8: strings would take é for e and its accent.
  private var members: [[UInt8]: JSONValue] = [:]

  /// Creates an object without members.
  public init() {}

  /// The member of a name; setting nil removes it.
  public subscript(name: String) -> JSONValue? {
    get { members[Array(name.utf8)] }
    set { members[Array(name.utf8)] = newValue }
  }

  subscript(utf8 name: [UInt8]) -> JSONValue? {
    get { members[name] }
    set { members[name] = newValue }
  }

  /// The number of members.
  public var count: Int { members.count }

  /// The names, in the order of their bytes.
  public var names: [String] { sortedMembers.map { String(decoding: $0.name, as: UTF8.self) } }

  var sortedMembers: [(name: [UInt8], value: JSONValue)] {
    members.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value) }
  }
}

/// A text is not JSON.
public struct JSONSyntaxError: Error, Hashable, CustomStringConvertible {
  /// The byte at which that shows, from 0.
  public let offset: Int
  /// What was expected there.
  public let expected: String

  /// What is wrong, and where.
  public var description: String { "not JSON: expected \(expected) at byte \(offset)" }
}
