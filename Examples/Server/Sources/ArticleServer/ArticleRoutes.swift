import Cistern
import CisternService
import Foundation
import HTTPTypes
import Hummingbird
import ServiceLifecycle

/// The routes of the server.
struct ArticleRoutes: Sendable {
  let caches: ArticleCaches
  let origin: ArticleOrigin
  let metrics: PrometheusMetrics

  func add(to router: Router<BasicRequestContext>) {
    router.get("articles/:id") { request, context in
      try await article(try parameter("id", of: context), for: request)
    }
    router.get("authors/:author") { request, context in
      try await articles(by: try parameter("author", of: context), for: request)
    }
    router.get("articles/:id/updates") { _, context in updates(of: try parameter("id", of: context)) }
    router.get("metrics") { _, _ in metricsPage() }
    router.post("articles/:id") { request, context in
      let change = try await request.decode(as: TitleChange.self, context: context)
      return try await rename(try parameter("id", of: context), to: change.title)
    }
  }

  /// Returns a part of the path as the text that it stands for.
  ///
  /// Keys and tags are compared with texts from the contents of articles, which have no encoding.
  private func parameter(_ name: String, of context: BasicRequestContext) throws -> String {
    guard let text = PathPart.decode(try context.parameters.require(name)) else { throw HTTPError(.badRequest) }
    return text
  }

  // MARK: Reading

  /// Returns an article. A stale one is returned at once, and the cache fetches it again in the background.
  private func article(_ id: String, for request: Request) async throws -> Response {
    try answer(try await caches.articles.load(id) { context in try await origin.article(context) }, to: request)
  }

  private func articles(by author: String, for request: Request) async throws -> Response {
    try answer(try await caches.authors.load(author) { context in try await origin.articles(by: context) }, to: request)
  }

  /// Returns a content, or 304 if the client has it.
  private func answer<Content>(_ loaded: Loaded<Representation<Content>>?, to request: Request) throws -> Response {
    guard let loaded else { throw HTTPError(.notFound) }
    var headers: HTTPFields = [.cacheStatus: cacheStatus(of: loaded)]
    // The server encodes the content again, so its bytes can differ from those of the origin.
    if let tag = loaded.value.entityTag?.weakened {
      headers[.eTag] = tag.text
      if let known = request.headers[.ifNoneMatch], tag.matches(ifNoneMatch: known) {
        return Response(status: .notModified, headers: headers)
      }
    }
    return try json(loaded.value.content, headers: headers)
  }

  /// The source of a value, in the form of RFC 9211. It has `fwd` only if the request waited for the origin.
  private func cacheStatus<Value>(of loaded: Loaded<Value>) -> String {
    switch loaded.source {
    case .memory, .secondTier: loaded.isStale ? "cistern; hit; detail=stale" : "cistern; hit"
    case .joined: "cistern; fwd=miss; collapsed"
    case .fetched: "cistern; fwd=miss; stored"
    }
  }

  // MARK: Writing

  /// Changes a title. Readers and observers see it before the origin has confirmed it. If the origin refuses, it is
  /// withdrawn.
  private func rename(_ id: String, to title: String) async throws -> Response {
    let confirmed = try await caches.articles.cache.editValue(forKey: id) { article in
      var article = article
      article?.content.title = title
      // The tag names the content without the edit.
      article?.entityTag = nil
      return article
    } confirmedBy: {
      try await origin.rename(id, to: title)
    }
    guard let confirmed else { throw HTTPError(.conflict) }
    // The lists of this author contain the old title.
    caches.authors.cache.removeAll(tagged: "author:\(confirmed.content.author)")
    return try json(confirmed.content)
  }

  // MARK: Observing

  /// Streams the changes of an article as server-sent events, until the client disconnects or the server shuts down.
  private func updates(of id: String) -> Response {
    // The observation begins before the response, so that the client misses no later change.
    let updates = caches.articles.cache.updates(forKey: id).cancelOnGracefulShutdown()
    return Response(
      status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
      body: ResponseBody { writer in
        try await writer.write(ByteBuffer(string: ": observing\n\n"))
        for try await change in updates {
          let article = change.value?.content
          let data = try article.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) } ?? "null"
          try await writer.write(ByteBuffer(string: "data: \(data)\n\n"))
        }
        try await writer.finish(nil)
      })
  }

  private func metricsPage() -> Response {
    // The numbers are those of the scrape, not of the last interval.
    caches.service.exportStatistics()
    return Response(
      status: .ok, headers: [.contentType: "text/plain; version=0.0.4"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text)))
  }

  private func json(_ value: some Encodable, headers: HTTPFields = [:]) throws -> Response {
    var headers = headers
    headers[.contentType] = "application/json"
    return Response(
      status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: try JSONEncoder().encode(value))))
  }
}

extension HTTPField.Name {
  static let cacheStatus = HTTPField.Name("Cache-Status")!
}
