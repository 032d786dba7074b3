import CisternTestSupport
import Cistern
import Testing

private struct Page: Codable, Sendable, Equatable {
  var text: String
  var maxAge: Int
  var staleIfError: Int
}

extension Client {
  fileprivate func page(_ url: String) async throws -> Page { Page(text: url, maxAge: 60, staleIfError: 600) }
}

/// The examples of "From other caches".
@Suite struct FromOtherCachesSnippets: Examples {
  private var pixels: [UInt8] { [1, 2, 3] }

  @Test func `as NSCache`() throws {
    let thumbnail = Thumbnail(article: id, width: 200)
    let thumbnails = try Cache<Thumbnail, [UInt8]>(costLimit: 16 << 20, countLimit: 1_000, weigher: \.count)
    thumbnails[thumbnail] = pixels
    let cached = thumbnails[thumbnail]
    thumbnails[thumbnail] = nil
    #expect(cached == pixels)
    #expect(thumbnails[thumbnail] == nil)
  }

  @Test func `as PINCache`() async throws {
    let scratch = TemporaryDirectory()
    let path = scratch.store
    let store = try Store(directory: path, memoryLimit: .mebibytes(64), diskLimit: .gibibytes(1))
    let images = try store.cache(
      "images", of: [UInt8].self, keyedBy: String.self, expiry: .after(.seconds(86_400)))
    images["logo"] = pixels
    try await images.commitValue(pixels, forKey: "logo")
    #expect(images["logo"] == pixels)
    try await store.close()
  }

  @Test func `as URLCache`() async throws {
    let store = try sampleStore()
    let url = "https://example.com/a"
    var configuration = CacheConfiguration<Page>()
    configuration.expiryOfValue = { page in .after(.seconds(page.maxAge), graceStale: .seconds(page.staleIfError)) }
    configuration.loadPolicy = .freshElseStale
    let pages = try store.cache("pages", of: Page.self, keyedBy: String.self, configuration: configuration)
    let page = try await pages.value(forKey: url) { url in try await client.page(url) }
    #expect(pages[url] == page)
  }

  @Test func `as singleflight`() async throws {
    let requests = Coalescer<String, Article>()
    let article = try await requests.value(forKey: id) { id in try await client.article(id) }
    requests.forget(id)
    #expect(article.title == "Title of 1")
  }
}
