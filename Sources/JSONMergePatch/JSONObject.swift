/// The members of a JSON object, which are unordered. Names are distinct if their Unicode scalars differ.
public struct JSONObject: Sendable, Hashable {
  // The keys are UTF-8, because string keys would equate precomposed and decomposed accents.
  private var members: [[UInt8]: JSONValue] = [:]

  /// Creates an object without members.
  public init() {}

  /// Accesses the member with the name. Setting nil removes it.
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

  /// The names, sorted by their bytes.
  public var names: [String] { sortedMembers.map { String(decoding: $0.name, as: UTF8.self) } }

  var sortedMembers: [(name: [UInt8], value: JSONValue)] {
    members.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value) }
  }
}
