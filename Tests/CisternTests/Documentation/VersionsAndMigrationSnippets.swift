import Cistern
import CisternTestSupport
import CisternTesting
import Testing

/// The examples of "Versions and migration".
@Suite struct VersionsAndMigrationSnippets: Examples {
  @Test func `stating a version`() throws {
    let tier = FaultInjectingTier()
    let older = try Store(secondTier: tier, memoryLimit: .mebibytes(1))
    var first = CacheConfiguration<String>()
    first.schema = CacheSchema(version: 1)
    try older.cache("articles", of: String.self, keyedBy: String.self, configuration: first)[id] = "Title"

    let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1))
    var configuration = CacheConfiguration<Article>()
    configuration.schema = CacheSchema(version: 2) { bytes, version in
      guard version == 1 else { return nil }
      return Article(title: String(decoding: bytes, as: UTF8.self), text: "")
    }
    let articles = try store.cache("articles", of: Article.self, keyedBy: String.self, configuration: configuration)
    #expect(articles[id] == Article(title: "Title", text: ""))
    #expect(articles.statistics.migrated == 1)

    configuration.schema = CacheSchema(version: 3)
    let newer = try Store(secondTier: tier, memoryLimit: .mebibytes(1))
    let dropped = try newer.cache("articles", of: Article.self, keyedBy: String.self, configuration: configuration)
    #expect(dropped[id] == nil)
    #expect(dropped.statistics.dropped == 1)
  }
}
