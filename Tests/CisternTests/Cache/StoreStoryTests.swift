import CisternTestSupport
import Cistern
import Testing

/// The main use of a store on disk, in plain code.
@Suite struct StoreStoryTests {
  struct Article: Codable, Sendable, Equatable {
    var title: String
    var words: Int
  }

  @Test func `committed values are readable after reopening the store`() async throws {
    let directory = TemporaryDirectory()
    do {
      let store = try Store(directory: directory.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(16))
      let articles = try store.cache("articles", of: Article.self, keyedBy: String.self)
      let numbers = try store.cache("numbers", of: Int.self, keyedBy: Int.self)
      articles["one"] = Article(title: "One", words: 1)
      try await articles.commitValue(Article(title: "Two", words: 2), forKey: "two")
      for number in 0..<1000 { numbers[number] = number * number }
      try await store.close()
      #expect(store.reports.isEmpty)
    }
    let store = try Store(
      directory: directory.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(16),
      configuration: .ignoringMemoryPressure)
    let articles = try store.cache("articles", of: Article.self, keyedBy: String.self)
    let numbers = try store.cache("numbers", of: Int.self, keyedBy: Int.self)
    #expect(articles["one"] == Article(title: "One", words: 1))
    #expect(try await articles.value(forKey: "two") { _ in Article(title: "fetched", words: 0) }.title == "Two")
    for number in 0..<1000 { #expect(numbers[number] == number * number) }
    articles.removeAll()
    #expect(articles["one"] == nil)
    #expect(numbers[31] == 961)
    #expect(store.statistics.caches["numbers"]?.diskHits == 1000)
    try await store.close()
    #expect(store.reports.isEmpty)
  }

  @Test func `a cache keeps its store's disk open after the last reference to the store is released`() async throws {
    let scratch = TemporaryDirectory()
    func open() throws -> Cache<String, String> {
      try Store(directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(4))
        .cache("kept", of: String.self, keyedBy: String.self)
    }
    var cache: Cache<String, String>? = try open()
    try await cache?.commitValue("value", forKey: "key")
    cache?.trim(toCost: 0)
    #expect(cache?["key"] == "value")
    #expect(cache?.statistics.disk?.mode == .active)
    cache = nil
    // The last reference is released, so another store can open the directory and finds the committed record.
    #expect(try open()["key"] == "value")
  }
}
