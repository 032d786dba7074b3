import Cistern
import Testing

/// The examples of "An app" that are in no other article.
@Suite struct AnAppSnippets: Examples {
  @Test @MainActor func `a model that loads and shows a value`() async throws {
    let articles = try sampleArticles()
    let model = ArticleModel(articles: articles, client: client)
    await model.load(id)
    #expect(model.article?.title == "Title of 1")
    #expect(model.problem == nil)

    let showing = Task { await model.show(id) }
    articles[id] = edited
    while model.article != edited { await Task.yield() }
    showing.cancel()
    await showing.value
  }
}

@MainActor final class ArticleModel {
  private(set) var article: Article?
  private(set) var problem: (any Error)?
  private let articles: Cache<String, Article>
  private let client: Client

  init(articles: Cache<String, Article>, client: Client) {
    self.articles = articles
    self.client = client
  }

  /// Shows the value and its changes, until the task is cancelled.
  func show(_ id: String) async {
    for await article in articles.valueUpdates(forKey: id) { self.article = article }
  }

  /// Loads the value if it is missing, or refreshes it if it is stale.
  func load(_ id: String) async {
    do {
      article = try await articles.value(forKey: id) { [client] id in try await client.article(id) }
    } catch {
      problem = error
    }
  }
}
