import Cistern
import Testing

/// The examples of "From other caches" for the caches of servers.
@Suite struct FromServerCachesSnippets: Examples {
  @Test func `as Caffeine`() async throws {
    let articles = try Cache<String, Article>(
      countLimit: 10_000, expiry: .after(.seconds(300)).refreshedAhead(at: 0.2))
    let article = try await articles.value(forKey: id) { id in try await client.article(id) }
    #expect(article.title == "Title of 1")
  }

  @Test func `as FusionCache`() async throws {
    let store = try sampleStore()
    var configuration = CacheConfiguration<Article>()
    configuration.refreshRetryInterval = .seconds(30)
    configuration.completesAbandonedFlights = true
    let articles = try store.cache(
      "articles", of: Article.self, keyedBy: String.self,
      expiry: .after(.seconds(60), graceStale: .seconds(7_140)).refreshedAhead(at: 0.9), configuration: configuration)
    let article = try await articles.value(
      forKey: id, policy: .freshElseStale.returningStale(after: .milliseconds(100)).timingOut(after: .seconds(2))
    ) { id in try await client.article(id) }
    #expect(articles[id] == article)
  }

  @Test func `as Redis`() throws {
    let store = try sampleStore()
    let articles = try store.cache("articles", of: Article.self, keyedBy: String.self)
    let counts = try store.cache("counts", of: Int.self, keyedBy: String.self)
    articles.setValue(edited, forKey: "news/1", expiry: .after(.seconds(60)))
    counts.updateValue(forKey: id) { count in
      count = (count ?? 0) + 1
    }
    articles.removeAll(withPrefix: "news/")
    #expect(counts[id] == 1)
    #expect(articles["news/1"] == nil)
  }
}
