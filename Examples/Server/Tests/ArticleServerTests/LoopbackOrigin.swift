import ArticleServer
import CisternTesting
import Foundation
import Hummingbird
import Logging
import Synchronization

/// An origin on the loopback interface. It counts its requests, and holds them at gates that a test opens.
final class LoopbackOrigin: Sendable {
  private struct State {
    var articles: [String: Article] = [:]
    var requestCount = 0
    var refusesChanges = false
  }

  /// The gate of requests that read.
  let reads = Gate(isOpen: true)
  /// The gate of requests that change an article.
  let changes = Gate(isOpen: true)
  private let state = Mutex(State())

  init(_ articles: [Article]) {
    state.withLock { $0.articles = Dictionary(uniqueKeysWithValues: articles.map { ($0.id, $0) }) }
  }

  /// The number of requests that read.
  var requestCount: Int { state.withLock { $0.requestCount } }

  func refuseChanges() { state.withLock { $0.refusesChanges = true } }

  func rename(_ id: String, to title: String) -> Article? {
    state.withLock { state in
      state.articles[id]?.title = title
      state.articles[id]?.revision += 1
      return state.articles[id]
    }
  }

  /// The routes of the origin.
  var router: Router<BasicRequestContext> {
    let router = Router()
    router.get("articles/:id") { [self] _, context in
      let id = try context.parameters.require("id")
      state.withLock { $0.requestCount += 1 }
      await reads.passUncancelled()
      guard let article = state.withLock({ $0.articles[id] }) else { throw HTTPError(.notFound) }
      return try Self.json(article)
    }
    router.get("authors/:author") { [self] _, context in
      let author = try context.parameters.require("author")
      state.withLock { $0.requestCount += 1 }
      return try Self.json(
        state.withLock { $0.articles.values.filter { $0.author == author }.sorted { $0.id < $1.id } })
    }
    router.post("articles/:id") { [self] request, context in
      let change = try await request.decode(as: TitleChange.self, context: context)
      await changes.passUncancelled()
      guard !state.withLock({ $0.refusesChanges }) else { throw HTTPError(.forbidden) }
      guard let article = rename(try context.parameters.require("id"), to: change.title) else {
        throw HTTPError(.notFound)
      }
      return try Self.json(article)
    }
    return router
  }

  private static func json(_ value: some Encodable) throws -> Response {
    Response(
      status: .ok, headers: [.contentType: "application/json"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: try JSONEncoder().encode(value))))
  }
}
