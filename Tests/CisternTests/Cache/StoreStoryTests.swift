import Cistern
import Testing

/// A store on disk, told once in plain code.
@Suite struct StoreStoryTests {
  struct Article: Codable, Sendable, Equatable {
    var title: String
    var words: Int
  }

  @Test func whatWasCommittedIsThereAfterReopening() async throws {
    let directory = Scratch()
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
    let store = try Store(directory: directory.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(16))
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
}
