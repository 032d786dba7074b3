/// An entity tag of RFC 9110, which names one state of a resource.
package struct EntityTag: Codable, Hashable, Sendable {
  /// Whether equal tags mean equivalent contents only, and not equal bytes.
  package let isWeak: Bool
  /// The tag with its quotes.
  private let quoted: String

  private init(isWeak: Bool, quoted: String) {
    self.isWeak = isWeak
    self.quoted = quoted
  }

  /// Parses the value of a header `ETag`. Returns nil for text that is no entity tag.
  package init?(_ text: some StringProtocol) {
    let isWeak = text.hasPrefix("W/")
    let quoted = text.dropFirst(isWeak ? 2 : 0)
    let inner = quoted.dropFirst().dropLast()
    guard quoted.count >= 2, quoted.first == "\"", quoted.last == "\"",
      inner.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x22 })
    else { return nil }
    self.init(isWeak: isWeak, quoted: String(quoted))
  }

  /// The value of a header `ETag`.
  package var text: String { (isWeak ? "W/" : "") + quoted }

  /// The weak form of the tag, for a representation with other bytes.
  package var weakened: EntityTag { EntityTag(isWeak: true, quoted: quoted) }

  /// Whether the value of a header `If-None-Match` names this tag. A strong tag and a weak one can match.
  package func matches(ifNoneMatch header: String) -> Bool {
    if header.allSatisfy({ $0 == "*" || $0 == " " }) { return header.contains("*") }
    // A tag may contain a comma, so its quotes delimit it.
    var rest = header[...]
    while let start = rest.firstIndex(of: "\"") {
      let inner = rest[rest.index(after: start)...]
      guard let end = inner.firstIndex(of: "\"") else { return false }
      if rest[start...end] == quoted { return true }
      rest = rest[rest.index(after: end)...]
    }
    return false
  }
}
