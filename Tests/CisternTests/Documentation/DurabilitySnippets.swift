import CisternTestSupport
import Cistern
import Testing

/// The examples of "Durability".
@Suite struct DurabilitySnippets: Examples {
  @Test func `setting and waiting`() async throws {
    let scratch = TemporaryDirectory()
    let store = try Store(directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(8))
    let articles = try store.cache("articles", of: Article.self, keyedBy: String.self)
    articles[id] = edited
    try await articles.commitValue(edited, forKey: id)
    try await articles.commitRemoval(forKey: id)
    try await store.flush()
    #expect(articles[id] == nil)
    try await store.close()
  }

  @Test func `choosing`() throws {
    let scratch = TemporaryDirectory()
    let path = scratch.store
    var configuration = Store.Configuration()
    configuration.durability = .processCrash
    configuration.commitInterval = .milliseconds(50)
    let store = try Store(
      directory: path, memoryLimit: .mebibytes(64), diskLimit: .gibibytes(1), configuration: configuration)
    #expect(store.reports.isEmpty)
  }

  @Test func `a report handler receives handled problems`() throws {
    var configuration = Store.Configuration()
    configuration.reportHandler = { report in print("\(report.message) (\(report.location))") }
    let store = try Store.inMemory(memoryLimit: .mebibytes(1), configuration: configuration)
    #expect(store.reports.isEmpty)
  }
}
