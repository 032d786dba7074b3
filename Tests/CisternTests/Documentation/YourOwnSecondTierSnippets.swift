import Cistern
import CisternTesting
import CisternTestSupport
import Foundation
import Testing

/// The examples of "Your own second tier", and tests of its tier.
@Suite struct YourOwnSecondTierSnippets: Examples {
  private let scratch = TemporaryDirectory()
  private var file: URL { scratch.url("articles.json") }

  private func openStore() throws -> Store {
    let configuration = Store.Configuration.ignoringMemoryPressure(clock: ManualClock())
    return try Store(secondTier: try FileTier(file: file), memoryLimit: .mebibytes(1), configuration: configuration)
  }

  private func openArticles(of store: Store) throws -> Cache<String, Article> {
    try store.cache("articles", of: Article.self, keyedBy: String.self)
  }

  /// Closes the store, and opens another one with the same file.
  private func reopen(_ store: Store) async throws -> (Store, Cache<String, Article>) {
    try await store.close()
    let store = try openStore()
    return (store, try openArticles(of: store))
  }

  @Test func `a store over a tier in one file`() async throws {
    let store = try Store(secondTier: FileTier(file: file), memoryLimit: .mebibytes(64))
    let articles = try store.cache("articles", of: Article.self, keyedBy: String.self)
    articles[id] = edited
    try await store.close()
    let (next, kept) = try await reopen(try openStore())
    #expect(kept[id] == edited)
    try await next.close()
  }

  @Test func `a value comes from the second tier once memory has evicted it`() async throws {
    let store = try openStore()
    let articles = try openArticles(of: store)
    articles[id] = edited
    store.trimMemory(to: .bytes(0))
    let loaded = try await articles.value(forKey: id) { id in try await client.article(id) }
    #expect(loaded == edited)
  }

  @Test func `all metadata of a record survives a reopening`() async throws {
    let tier = try FileTier(file: file)
    let partition = try tier.partition(named: "p") { _ in }
    let metadata = RecordMetadata(
      created: WallTime(nanosecondsSince1970: -7), expires: WallTime(nanosecondsSince1970: .max), cost: 1,
      schemaVersion: 2, tags: ["a", "b"]
    ).with {
      $0.grace = .max
      $0.idle = 3
      $0.lastUsed = WallTime(nanosecondsSince1970: 4)
      $0.refreshAhead = 5
      $0.invalidationVersion = .max
      $0.isNegative = true
    }
    guard case .staged(let ticket) = partition.stage(.record(key: [0, 255], metadata, bytes: [1, 2])) else {
      Issue.record("the tier refused a record")
      return
    }
    try await partition.waitForCommit(ticket)
    let next = try FileTier(file: file).partition(named: "p") { _ in }
    var found: [(key: [UInt8], metadata: RecordMetadata, size: Int)] = []
    next.forEachRecord { key, metadata, size in
      found.append((key.copiedBytes(), metadata, size))
      return true
    }
    #expect(found.map(\.key) == [[0, 255]] && found.map(\.metadata) == [metadata] && found.map(\.size) == [2])
  }

  @Test func `removed and invalidated values stay away after a reopening`() async throws {
    let store = try openStore()
    let articles = try openArticles(of: store)
    for key in ["removed", "news/1", "old/1", "kept"] { articles[key] = edited }
    articles.setValue(edited, forKey: "tagged", tags: ["author:7"])
    articles.removeValue(forKey: "removed")
    articles.removeAll(withPrefix: "news/")
    articles.removeAll(tagged: "author:7")
    store.trimMemory(to: .bytes(0))
    #expect(articles.removeAll(where: { $0.hasPrefix("old/") }) == 1)
    let (next, kept) = try await reopen(store)
    for key in ["removed", "news/1", "old/1", "tagged"] { #expect(kept[key] == nil, "\(key)") }
    #expect(kept["kept"] == edited)
    kept.removeAll()
    let (last, empty) = try await reopen(next)
    #expect(empty["kept"] == nil)
    try await last.close()
  }

  @Test func `a fetch that began before an invalidation brings no value into the tier`() async throws {
    let store = try openStore()
    let articles = try openArticles(of: store)
    let value = try await articles.value(forKey: id, tags: ["author:7"]) { id in
      articles.removeAll(tagged: "author:7")
      return try await client.article(id)
    }
    #expect(value.title == "Title of \(id)")
    let (next, kept) = try await reopen(store)
    #expect(kept[id] == nil)
    try await next.close()
  }

  @Test func `a commit and a batch are in the file when their calls return`() async throws {
    let store = try openStore()
    let articles = try openArticles(of: store)
    try await articles.commitValue(edited, forKey: "set")
    try await articles.commitBatch { batch in
      batch.setValue(edited, forKey: "one")
      batch.setValue(draft, forKey: "two")
    }
    // Another tier reads the file, although the first one is open.
    let copy = try openArticles(of: try openStore())
    #expect(copy["set"] == edited && copy["one"] == edited && copy["two"] == draft)
    try await store.close()
  }

  @Test func `a tier that cannot write its file fails commits, and the store works in memory`() async throws {
    let store = try Store(secondTier: FileTier(file: scratch.url("missing/articles.json")), memoryLimit: .mebibytes(1))
    let articles = try openArticles(of: store)
    await #expect(throws: CisternError.self) { try await articles.commitValue(edited, forKey: id) }
    #expect(articles[id] == edited)
    await #expect(throws: CisternError.self) { try await store.close() }
    await #expect(throws: CisternError.self) { try await articles.commitValue(draft, forKey: id) }
    #expect(articles[id] == draft)
  }
}
