import Cistern
import Testing

/// The examples of "Invalidation".
@Suite struct InvalidationSnippets: Examples {
  @Test func `by tag, by prefix, by a closure`() throws {
    let articles = try sampleArticles()
    articles["news/2"] = edited
    articles["old/draft"] = edited
    articles["kept"] = edited
    articles.setValue(edited, forKey: "news/1", tags: ["author:7"])
    articles.removeAll(tagged: "author:7")
    articles.removeAll(withPrefix: "news/")
    articles.removeAll(where: { id in id.hasSuffix("/draft") })
    #expect(articles["news/1"] == nil && articles["news/2"] == nil && articles["old/draft"] == nil)
    #expect(articles["kept"] == edited)
  }

  @Test func `tags of a value`() async throws {
    let store = try sampleStore()
    var configuration = CacheConfiguration<Article>()
    configuration.tagsOfValue = { article in article.text.isEmpty ? ["empty"] : [] }
    let articles = try store.cache(
      "articles", of: Article.self, keyedBy: String.self, configuration: configuration)

    let article = try await articles.value(forKey: id, tags: ["author:7"]) { id in try await client.article(id) }
    #expect(articles[id] == article)
    articles.removeAll(tagged: "empty")
    #expect(articles[id] == nil)
  }

  @Test func `all caches of a store`() throws {
    let store = try sampleStore()
    let articles = try store.cache("articles", of: Article.self, keyedBy: String.self)
    let titles = try store.cache("titles", of: String.self, keyedBy: String.self)
    articles.setValue(edited, forKey: id, tags: ["author:7"])
    titles.setValue("Edited", forKey: id, tags: ["author:7"])
    store.removeAll(tagged: "author:7")
    #expect(articles[id] == nil && titles[id] == nil)
  }

  @Test func `observing an invalidation`() throws {
    let articles = try sampleArticles()
    let token = articles.observe(.key(id)) { change in
      if case .invalidated = change.event { print(articles[id] ?? "gone") }
    }
    articles.removeAll(withPrefix: "1")
    token.cancel()
    #expect(articles[id] == nil)
  }
}
