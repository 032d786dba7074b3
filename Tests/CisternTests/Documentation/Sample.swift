import Cistern
import CisternTesting
import CisternTestSupport

/// The value type of the documentation's examples.
struct Article: Codable, Sendable, Equatable {
  var title: String
  var text: String
}

/// The origin from which the examples fetch.
struct Client: Sendable {
  func article(_ id: String) async throws -> Article { Article(title: "Title of \(id)", text: "") }

  func articles(_ ids: [String]) async throws -> [String: Article] {
    var articles: [String: Article] = [:]
    for id in ids where id != "missing" { articles[id] = try await article(id) }
    return articles
  }

  func pixels(of thumbnail: Thumbnail) async throws -> [UInt8] { Array(repeating: 0, count: thumbnail.width) }
}

struct Thumbnail: Hashable, Sendable {
  var article: String
  var width: Int
}

struct Pixel: Codable, Sendable, Equatable {
  var red: UInt8
  var green: UInt8
  var blue: UInt8
}

/// The values and helpers that the examples use.
protocol Examples {}

extension Examples {
  var client: Client { Client() }
  var id: String { "1" }
  var ids: [String] { ["1", "2", "missing"] }
  var edited: Article { Article(title: "Edited", text: "…") }
  var draft: Article { Article(title: "Draft", text: "…") }

  /// Discards the output of the examples.
  func print(_ value: Any) {}

  /// Returns a store whose clock only a test advances. Nothing expires or times out, even on a slow machine.
  func sampleStore(clock: ManualClock = ManualClock()) throws -> Store {
    try Store.inMemory(memoryLimit: .mebibytes(1), configuration: .ignoringMemoryPressure(clock: clock))
  }

  func sampleArticles() throws -> Cache<String, Article> {
    try sampleStore().cache("articles", of: Article.self, keyedBy: String.self)
  }
}
