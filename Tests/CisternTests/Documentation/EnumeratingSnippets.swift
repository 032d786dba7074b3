import Cistern
import Testing

/// The examples of "Enumerating".
@Suite struct EnumeratingSnippets: Examples {
  @Test func `keys, entries and their number`() async throws {
    let articles = try sampleArticles()
    articles.setValue(edited, forKey: "news/1", tags: ["author:7"])
    for try await key in articles.keys(.withPrefix("news/")) { print(key) }

    for try await entry in articles.entries(.tagged("author:7")) where entry.isStale {
      print("\(entry.key) costs \(entry.cost)")
    }
    let count = try await articles.keyCount()
    #expect(count == 1)
  }

  @Test func `pages with a cursor`() throws {
    let articles = try sampleArticles()
    articles["news/1"] = edited
    var cursor: EntryCursor?
    let page = try articles.page(after: cursor, limit: 50)
    let titles = page.entries.compactMap { entry in entry.value()?.title }
    cursor = page.next
    #expect(titles == ["Edited"] && cursor == nil)
  }

  @Test func `a prefix of a key that is no string`() throws {
    let store = try sampleStore()
    let thumbnails = try store.cache("thumbnails", of: [UInt8].self, keyedBy: [UInt8].self)
    let articleID: UInt64 = 7
    thumbnails[KeyPrefix(articleID).bytes + [1]] = [1]
    thumbnails.removeAll(withPrefix: KeyPrefix(articleID))
    #expect(thumbnails[KeyPrefix(articleID).bytes + [1]] == nil)
  }
}
