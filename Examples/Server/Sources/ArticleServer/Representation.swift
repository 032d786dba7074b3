/// A content of the origin, with the entity tag that the origin gave it.
package struct Representation<Content: Codable & Sendable & Equatable>: Codable, Sendable, Equatable {
  package var content: Content
  /// Nil if the origin gave no tag, and for a content that the origin has not confirmed.
  package var entityTag: EntityTag?
}

extension Representation {
  package init(_ content: Content, entityTag: EntityTag? = nil) {
    self.init(content: content, entityTag: entityTag)
  }
}
