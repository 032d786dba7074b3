import CisternTestSupport
import Cistern
import Testing

/// The examples of "Limits and eviction".
@Suite struct LimitsSnippets: Examples {
  @Test func `limits of a store and of a cache`() throws {
    let scratch = TemporaryDirectory()
    let path = scratch.store
    let store = try Store(directory: path, memoryLimit: .mebibytes(64), diskLimit: .gibibytes(1))
    let images = try store.cache(
      "images", of: [UInt8].self, keyedBy: String.self,
      configuration: CacheConfiguration(memoryLimit: .mebibytes(48), countLimit: 10_000))
    images[id] = [1, 2, 3]
    #expect(images.statistics.memory.cost == 3)
  }

  @Test func `a cache on disk only`() throws {
    let scratch = TemporaryDirectory()
    let store = try Store(directory: scratch.store, memoryLimit: .mebibytes(64), diskLimit: .mebibytes(16))
    var configuration = CacheConfiguration<[UInt8]>()
    configuration.tiers = .secondTierOnly
    let downloads = try store.cache(
      "downloads", of: [UInt8].self, keyedBy: String.self, configuration: configuration)
    downloads[id] = [1, 2, 3]
    #expect(downloads[id] == [1, 2, 3])
    #expect(downloads.statistics.memory.entryCount == 0)
  }

  @Test func `the ordered layout stores and returns values`() throws {
    let scratch = TemporaryDirectory()
    let path = scratch.store
    var configuration = Store.Configuration()
    configuration.diskLayout = .ordered
    let store = try Store(
      directory: path, memoryLimit: .mebibytes(64), diskLimit: .gibibytes(1), configuration: configuration)
    let articles = try store.cache("articles", of: Article.self, keyedBy: String.self)
    articles[id] = edited
    articles.trim(toCost: 0)
    #expect(articles[id] == edited)
  }

  @Test func `a weigher`() throws {
    let store = try sampleStore()
    let articles = try store.cache(
      "articles", of: Article.self, keyedBy: String.self,
      configuration: CacheConfiguration(weigher: { article in 200 + article.text.utf8.count }))
    articles[id] = edited
    #expect(articles.statistics.memory.cost == 203)
  }

  @Test func `giving memory back`() throws {
    let store = try sampleStore()
    let articles = try store.cache("articles", of: Article.self, keyedBy: String.self)
    articles[id] = edited
    store.trimMemory(to: .mebibytes(8))
    articles.trim(toCost: 0)
    #expect(articles[id] == nil)
  }

  @Test func `a lifetime of its own`() throws {
    let articles = try sampleArticles()
    articles.setValue(draft, forKey: id, expiry: .after(.seconds(10)))
    #expect(articles[id] == draft)
  }

  @Test func `statistics`() throws {
    let store = try sampleStore()
    let articles = try store.cache("articles", of: Article.self, keyedBy: String.self)
    let statistics = articles.statistics
    print("\(statistics.hits) hits, \(statistics.joins) joined loads")
    print("memory: \(statistics.memory.cost) of \(statistics.memory.costLimit)")
    print(store.statistics)
    #expect(statistics.hits == 0)
  }
}
