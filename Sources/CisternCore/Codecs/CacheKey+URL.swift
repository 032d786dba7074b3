#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The key bytes of a URL are the UTF-8 of its string. If the URL has a base, a zero byte and the bytes of the base
/// follow.
///
/// A URL with a base and its absolute form are different keys, because they are not equal. Use `absoluteURL` if both
/// mean the same.
extension URL: CacheKey {
  /// Calls `body` with the bytes. O(n).
  public func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    var bytes = Array(relativeString.utf8)
    var base = baseURL
    while let url = base {
      // No string of a URL has a zero byte.
      bytes.append(0)
      bytes += url.relativeString.utf8
      base = url.baseURL
    }
    return try body(bytes.rawSpan)
  }

  /// Creates the URL with these bytes. Returns nil if they do not form a URL.
  public init?(keyBytes: RawSpan) {
    var url: URL?
    for part in keyBytes.copiedBytes().split(separator: 0, omittingEmptySubsequences: false).reversed() {
      guard let text = String(validating: part, as: UTF8.self),
        let next = URL(string: text, relativeTo: url)
      else { return nil }
      url = next
    }
    guard let url else { return nil }
    self = url
  }
}
