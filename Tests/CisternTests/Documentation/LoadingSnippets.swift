import CisternTestSupport
import Cistern
import Testing

/// The examples of "Loading and coalescing" and of the landing page.
@Suite struct LoadingSnippets: Examples {
  @Test func `opening a store and a cache`() throws {
    let scratch = TemporaryDirectory()
    let path = scratch.store
    let store = try Store(directory: path, memoryLimit: .mebibytes(64), diskLimit: .gibibytes(1))
    let articles = try store.cache(
      "articles", of: Article.self, keyedBy: String.self, expiry: .after(.seconds(60)))
    #expect(articles[id] == nil)
  }

  @Test func `the landing page`() async throws {
    let scratch = TemporaryDirectory()
    let path = scratch.store
    let store = try Store(directory: path, memoryLimit: .mebibytes(64), diskLimit: .gibibytes(1))
    let articles = try store.cache(
      "articles", of: Article.self, keyedBy: String.self, expiry: .after(.seconds(60)))

    let article = try await articles.value(forKey: id) { id in try await client.article(id) }
    try await store.close()
    #expect(article.title == "Title of 1")
  }

  @Test func `loading, looking up, setting`() async throws {
    let articles = try sampleArticles()
    let article = try await articles.value(forKey: id) { id in try await client.article(id) }
    let cached = articles[id]
    articles[id] = edited
    articles[id] = nil
    #expect(cached == article)
    #expect(articles[id] == nil)
  }

  @Test func `a loaded value names its source`() async throws {
    let articles = try sampleArticles()
    let loaded = try await articles.loadedValue(forKey: id) { id in try await client.article(id) }
    switch loaded.source {
    case .memory, .secondTier: print("cached: \(loaded.value.title)")
    case .joined, .fetched: print("fresh: \(loaded.value.title)")
    }
    #expect(loaded.source == .fetched)
  }

  @Test func `several keys at once`() async throws {
    let articles = try sampleArticles()
    let loaded = try await articles.values(forKeys: ids) { missing in
      try await client.articles(missing)
    }
    for (id, article) in loaded.values { print("\(id): \(article.title)") }
    for (id, error) in loaded.failures { print("\(id) failed: \(error)") }
    for id in loaded.missing { print("\(id): there is no such article") }
    #expect(loaded.missing == ["missing"])
    #expect(loaded.values.count == 2)
  }

  @Test func `without a store`() async throws {
    let thumbnails = try Cache<Thumbnail, [UInt8]>(costLimit: 16 << 20, weigher: \.count)
    let pixels = try await thumbnails.value(forKey: Thumbnail(article: id, width: 200)) { thumbnail in
      try await client.pixels(of: thumbnail)
    }
    #expect(pixels.count == 200)
    #expect(thumbnails.statistics.memory.cost == 200)
  }

  @Test func `coalescing alone`() async throws {
    let requests = Coalescer<String, Article>()
    let article = try await requests.value(forKey: id) { id in try await client.article(id) }
    #expect(article.title == "Title of 1")
    #expect(requests.flightCount == 0)
  }
}
