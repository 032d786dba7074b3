/// An article of the origin.
package struct Article: Codable, Sendable, Equatable {
  package let id: String
  package let author: String
  package var title: String
  /// The number of changes that the origin has stored.
  package var revision: Int

  package init(id: String, author: String, title: String, revision: Int = 0) {
    self.id = id
    self.author = author
    self.title = title
    self.revision = revision
  }
}

/// The body of a request that changes an article.
package struct TitleChange: Codable, Sendable {
  package let title: String

  package init(title: String) {
    self.title = title
  }
}
