import Cistern
import Testing

struct PartialArticle: Codable, Sendable, Equatable {
  var title: String?
  var text: String?
}

/// The examples of "Partial models and merging".
@Suite struct PartialModelsSnippets: Examples {
  @Test func `one value of two parts`() throws {
    let store = try sampleStore()
    let articles = try store.cache(
      "articles", of: PartialArticle.self, keyedBy: String.self,
      configuration: CacheConfiguration(
        merge: { cached, incoming in
          PartialArticle(title: incoming.title ?? cached.title, text: incoming.text ?? cached.text)
        }, isEqual: ==))

    articles[id] = PartialArticle(title: "Title", text: nil)
    articles[id] = PartialArticle(title: nil, text: "Text")
    #expect(articles[id] == PartialArticle(title: "Title", text: "Text"))
  }

  @Test func `JSON field by field`() throws {
    let store = try sampleStore()
    let documents = try store.cache(
      "documents", of: [UInt8].self, keyedBy: String.self,
      configuration: CacheConfiguration(merge: JSONMergePatch.merge, isEqual: ==))

    documents[id] = Array(#"{"title": "Title", "author": {"name": "A"}}"#.utf8)
    documents[id] = Array(#"{"author": {"mail": "a@example.org"}, "title": null}"#.utf8)
    #expect(documents[id] == Array(#"{"author":{"mail":"a@example.org","name":"A"}}"#.utf8))
  }
}
