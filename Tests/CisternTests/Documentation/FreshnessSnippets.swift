import Cistern
import CisternTesting
import Testing

/// The examples of "Freshness".
@Suite struct FreshnessSnippets: Examples {
  @Test func `an expiry`() throws {
    let store = try sampleStore()
    let articles = try store.cache(
      "articles", of: Article.self, keyedBy: String.self,
      expiry: .after(.seconds(60), graceStale: .seconds(600)).refreshedAhead(at: 0.8).jittered(by: 0.1))
    articles[id] = edited
    #expect(articles[id] == edited)
  }

  @Test func `an expiry from the value`() throws {
    let clock = ManualClock()
    let store = try sampleStore(clock: clock)
    var configuration = CacheConfiguration<Article>()
    configuration.expiryOfValue = { article in article.text.isEmpty ? .after(.seconds(5)) : nil }
    let articles = try store.cache(
      "articles", of: Article.self, keyedBy: String.self, expiry: .after(.seconds(60)), configuration: configuration)
    articles["empty"] = Article(title: "Empty", text: "")
    articles[id] = edited
    clock.advance(by: .seconds(6))
    #expect(articles["empty"] == nil)
    #expect(articles[id] == edited)
  }

  @Test func `a policy`() async throws {
    let articles = try sampleArticles()
    let article = try await articles.value(forKey: id, policy: .freshOnly) { id in try await client.article(id) }
    #expect(articles[id] == article)
  }

  @Test func `a reload fetches, and a look-up returns the stale value`() async throws {
    let articles = try sampleArticles()
    articles[id] = edited
    let newest = try await articles.refreshValue(forKey: id) { id in try await client.article(id) }
    let older = articles.value(forKey: id, staleUpTo: .seconds(600))
    #expect(newest.title == "Title of 1")
    #expect(older == newest)
  }
}
