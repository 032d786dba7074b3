/// Merges JSON field by field according to RFC 7396. This is useful if each response contains only a part of an
/// object.
///
/// ```swift
/// let configuration = CacheConfiguration<[UInt8]>(merge: JSONMergePatch.merge)
/// ```
///
/// Members of the incoming object replace those of the cached object. Nested objects are merged recursively, and
/// `null` removes a member. All other values, including arrays, are replaced as a whole.
///
/// If the merge changes nothing, the result is the cached text. Otherwise, the result has no white space, and its
/// members are sorted by name.
///
/// A cache handles the errors of a text merge. After ``JSONSyntaxError``, the cached text stays. After
/// ``UnusableCachedValue``, the incoming text replaces the cached one.
///
/// - Complexity: O(n) for texts of n bytes, plus the time to sort the names.
public enum JSONMergePatch {
  /// Returns the cached value with the incoming one merged into it.
  ///
  /// - Parameters:
  ///   - cached: The cached value.
  ///   - incoming: The incoming value, which has precedence.
  /// - Returns: The merged value.
  public static func merge(_ cached: JSONValue, _ incoming: JSONValue) -> JSONValue {
    guard case .object(let patch) = incoming else { return incoming }
    var result = JSONObject()
    if case .object(let target) = cached { result = target }
    for (name, value) in patch.sortedMembers {
      result[utf8: name] = value == .null ? nil : merge(result[utf8: name] ?? .null, value)
    }
    return .object(result)
  }

  /// Returns the cached JSON text with the incoming one merged into it. Both are UTF-8.
  ///
  /// - Parameters:
  ///   - cached: The cached text.
  ///   - incoming: The incoming text, which has precedence.
  /// - Returns: The merged text.
  /// - Throws: ``JSONSyntaxError`` if the incoming text is not JSON, or ``UnusableCachedValue`` if the cached text is
  ///   not.
  public static func merge(_ cached: [UInt8], _ incoming: [UInt8]) throws -> [UInt8] {
    let patch = try JSONValue(parsing: incoming)
    let target: JSONValue
    do {
      target = try JSONValue(parsing: cached)
    } catch {
      throw UnusableCachedValue(cause: error)
    }
    let merged = merge(target, patch)
    return merged == target ? cached : merged.text
  }

  /// Returns the cached JSON text with the incoming one merged into it.
  ///
  /// - Parameters:
  ///   - cached: The cached text.
  ///   - incoming: The incoming text, which has precedence.
  /// - Returns: The merged text.
  /// - Throws: ``JSONSyntaxError`` if the incoming text is not JSON, or ``UnusableCachedValue`` if the cached text is
  ///   not.
  public static func merge(_ cached: String, _ incoming: String) throws -> String {
    String(decoding: try merge(Array(cached.utf8), Array(incoming.utf8)), as: UTF8.self)
  }
}
