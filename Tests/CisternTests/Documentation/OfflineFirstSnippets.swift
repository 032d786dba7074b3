import Cistern
import Testing

/// The examples of "An offline-first app".
@Suite struct OfflineFirstSnippets: Examples {
  @Test @MainActor func `a model shows stored articles, fetched ones, and an unsent change`() async throws {
    let store = try sampleStore()
    let articles = try store.cache(
      "articles", of: Article.self, keyedBy: String.self,
      expiry: .after(.seconds(300), graceStale: .seconds(30 * 86_400)))
    let unsent = try store.cache("unsent", of: Article.self, keyedBy: String.self)
    articles["stored"] = draft
    let library = Library(articles: articles, client: client)
    let showing = Task { await library.show() }
    while library.shown["stored"] != draft { await Task.yield() }
    #expect(try await library.refresh(ids) == ["missing"])
    while library.shown.count < 3 { await Task.yield() }
    try store.batch { batch in
      batch.setValue(edited, forKey: id, in: articles)
      batch.setValue(edited, forKey: id, in: unsent)
    }
    while library.shown[id] != edited { await Task.yield() }
    #expect(unsent[id] == edited)
    showing.cancel()
    await showing.value
  }
}

@MainActor final class Library {
  private(set) var shown: [String: Article] = [:]
  private let articles: Cache<String, Article>
  private let client: Client

  init(articles: Cache<String, Article>, client: Client) {
    self.articles = articles
    self.client = client
  }

  /// Shows the stored articles and every later change, until the task is cancelled.
  func show() async {
    for await update in articles.contentUpdates() { update.apply(to: &shown) }
  }

  /// Fetches the articles that are stale or missing. Returns the keys of those that cannot be shown.
  func refresh(_ ids: [String]) async throws -> Set<String> {
    let loaded = try await articles.values(forKeys: ids, policy: .freshElseStale) { [client] ids in
      try await client.articles(ids)
    }
    return loaded.missing.union(loaded.failures.keys)
  }
}
