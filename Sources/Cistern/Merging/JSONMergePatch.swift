/// Merges JSON field by field, as RFC 7396 has it: for caches of which each source brings a part of the object.
///
/// ```swift
/// let configuration = CacheConfiguration<[UInt8]>(merge: JSONMergePatch.merge)
/// ```
///
/// Members of the incoming object replace those of the cached one, objects within objects are merged in turn, `null` removes a
/// member. Everything else (an array, too) is replaced as a whole. Where nothing changes, the cached text is returned as it
/// is. Else the text has no white space, and members in the order of their names.
///
/// Each throws ``JSONSyntaxError`` for an incoming text that is not JSON, and ``UnusableCachedValue`` for a cached one, which a
/// cache replaces by the incoming one. O(n) for texts of n bytes, and the sorting of names.
public enum JSONMergePatch {
  /// Merges values.
  public static func merge(_ cached: JSONValue, _ incoming: JSONValue) -> JSONValue {
    guard case .object(let patch) = incoming else { return incoming }
    var result = JSONObject()
    if case .object(let target) = cached { result = target }
    for (name, value) in patch.sortedMembers {
      result[utf8: name] = value == .null ? nil : merge(result[utf8: name] ?? .null, value)
    }
    return .object(result)
  }

  /// Merges texts, as bytes of UTF-8.
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

  /// Merges texts.
  public static func merge(_ cached: String, _ incoming: String) throws -> String {
    String(decoding: try merge(Array(cached.utf8), Array(incoming.utf8)), as: UTF8.self)
  }
}
