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
    var unmodifiedCount = 0
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

  /// The number of requests that were answered with "not modified".
  var unmodifiedCount: Int { state.withLock { $0.unmodifiedCount } }

  func refuseChanges() { state.withLock { $0.refusesChanges = true } }

  func remove(_ id: String) { state.withLock { $0.articles[id] = nil } }

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
    router.get("articles/:id") { [self] request, context in
      let id = try Self.parameter("id", of: context)
      state.withLock { $0.requestCount += 1 }
      await reads.passUncancelled()
      guard let article = state.withLock({ $0.articles[id] }) else { throw HTTPError(.notFound) }
      return try answer(article, tag: Self.tag(of: [article]), to: request)
    }
    router.get("authors/:author") { [self] request, context in
      let author = try Self.parameter("author", of: context)
      state.withLock { $0.requestCount += 1 }
      let articles = state.withLock { $0.articles.values.filter { $0.author == author }.sorted { $0.id < $1.id } }
      return try answer(articles, tag: Self.tag(of: articles), to: request)
    }
    router.post("articles/:id") { [self] request, context in
      let change = try await request.decode(as: TitleChange.self, context: context)
      await changes.passUncancelled()
      guard !state.withLock({ $0.refusesChanges }) else { throw HTTPError(.forbidden) }
      guard let article = rename(try Self.parameter("id", of: context), to: change.title) else {
        throw HTTPError(.notFound)
      }
      return try Self.json(article, tag: Self.tag(of: [article]))
    }
    return router
  }

  private static func parameter(_ name: String, of context: BasicRequestContext) throws -> String {
    guard let text = PathPart.decode(try context.parameters.require(name)) else { throw HTTPError(.badRequest) }
    return text
  }

  /// Returns a value, or 304 if the request names its tag.
  private func answer(_ value: some Encodable, tag: String, to request: Request) throws -> Response {
    guard request.headers[.ifNoneMatch] == tag else { return try Self.json(value, tag: tag) }
    state.withLock { $0.unmodifiedCount += 1 }
    return Response(status: .notModified, headers: [.eTag: tag])
  }

  private static func tag(of articles: [Article]) -> String {
    "\"" + articles.map { "\($0.id)-\($0.revision)" }.joined(separator: ",") + "\""
  }

  private static func json(_ value: some Encodable, tag: String) throws -> Response {
    Response(
      status: .ok, headers: [.contentType: "application/json", .eTag: tag],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: try JSONEncoder().encode(value))))
  }
}
