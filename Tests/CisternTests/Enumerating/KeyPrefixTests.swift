import Cistern
import CisternTestSupport
import CisternTesting
import Foundation
import Testing

/// Removals by a prefix of the bytes of keys that are not strings.
@Suite struct KeyPrefixTests {
  /// A key whose bytes begin with those of its article.
  struct Thumbnail: CacheKey {
    var article: UInt32
    var width: UInt16

    func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
      let bytes = KeyPrefix(article).bytes + KeyPrefix(width).bytes
      return try unsafe bytes.withUnsafeBytes { unsafe try body(RawSpan(_unsafeBytes: $0)) }
    }

    init(article: UInt32, width: UInt16) {
      self.article = article
      self.width = width
    }

    init?(keyBytes: RawSpan) {
      guard keyBytes.byteCount == 6, let article = UInt32(keyBytes: keyBytes.extracting(0..<4)),
        let width = UInt16(keyBytes: keyBytes.extracting(4..<6))
      else { return nil }
      self.init(article: article, width: width)
    }
  }

  @Test(arguments: [false, true])
  func `a removal and an enumeration by prefix concern the same keys of any type`(isOnDisk: Bool) async throws {
    let scratch = TemporaryDirectory()
    let store = try Store(directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(8))
    let cache = try store.cache("cache", of: [UInt8].self, keyedBy: Thumbnail.self)
    for article in 254..<258 as Range<UInt32> {
      for width in [100, 200] as [UInt16] { cache[Thumbnail(article: article, width: width)] = [1] }
    }
    if isOnDisk {
      try await store.flush()
      cache.trim(toCost: 0)
    }
    let selected = try await cache.allKeys(.withPrefix(KeyPrefix(255 as UInt32)))
    #expect(
      selected.sorted { $0.width < $1.width }
        == [Thumbnail(article: 255, width: 100), Thumbnail(article: 255, width: 200)])
    cache.removeAll(withPrefix: KeyPrefix(255 as UInt32))
    #expect(try await cache.keyCount() == 6)
    try await cache.commitRemovalOfAll(withPrefix: KeyPrefix(bytes: [0, 0, 1]))
    #expect(try await cache.allKeys().map(\.article) == [254, 254])
    #expect(cache[Thumbnail(article: 257, width: 100)] == nil)
  }

  @Test func `URLs and UUIDs are removed by prefix`() async throws {
    let store = try Store.inMemory(memoryLimit: .mebibytes(1))
    let pages = try store.cache("pages", of: [UInt8].self, keyedBy: URL.self)
    let urls = try ["https://a.example/1", "https://a.example/2", "https://b.example/1"].map {
      try #require(URL(string: $0))
    }
    for url in urls { pages[url] = [1] }
    pages.removeAll(withPrefix: "https://a.example/")
    #expect(try await pages.allKeys() == [urls[2]])
    let users = try store.cache("users", of: [UInt8].self, keyedBy: UUID.self)
    let user = UUID()
    users[user] = [1]
    users.removeAll(withPrefix: KeyPrefix(user))
    #expect(users[user] == nil)
  }

  @Test func `equal strings make equal prefixes`() {
    #expect(KeyPrefix("cafe\u{301}") == "caf\u{E9}")
    #expect(KeyPrefix(bytes: "ab".utf8) == KeyPrefix("ab"))
  }
}
