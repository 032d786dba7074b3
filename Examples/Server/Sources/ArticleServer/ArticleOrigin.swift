import AsyncHTTPClient
import Cistern
import Foundation
import NIOCore
import NIOHTTP1

/// The origin of the articles, over HTTP.
package struct ArticleOrigin: Sendable {
  /// An answer that is no success.
  package struct UnexpectedStatus: Error {
    package let code: UInt
  }

  private let address: String
  private let client: HTTPClient

  /// Creates an origin.
  ///
  /// - Parameters:
  ///   - address: The address without a slash at its end, such as `http://127.0.0.1:8081`.
  ///   - client: The client of the requests.
  package init(address: String, client: HTTPClient = .shared) {
    self.address = address
    self.client = client
  }

  /// Fetches an article.
  func article(
    _ context: FetchContext<String, Representation<Article>>
  ) async throws -> FetchOutcome<Representation<Article>> {
    try await fetch(url("articles", context.key), replacing: context.stored?.value)
  }

  /// Fetches the articles of an author. The result has the author as a tag.
  func articles(
    by context: FetchContext<String, Representation<[Article]>>
  ) async throws -> FetchOutcome<Representation<[Article]>> {
    try await fetch(
      url("authors", context.key), replacing: context.stored?.value, tags: ["author:\(context.key)"])
  }

  /// Changes a title. Returns the article as the origin stored it.
  func rename(_ id: String, to title: String) async throws -> Representation<Article> {
    var request = HTTPClientRequest(url: url("articles", id))
    request.method = .POST
    request.headers.add(name: "content-type", value: "application/json")
    request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(TitleChange(title: title))))
    let response = try await client.execute(request, timeout: .seconds(30))
    let body = try await response.body.collect(upTo: 1 << 20)
    guard response.status == .ok else { throw UnexpectedStatus(code: response.status.code) }
    return try Self.representation(of: body, response.headers)
  }

  // MARK: Requests

  private func url(_ kind: String, _ name: String) -> String { "\(address)/\(kind)/\(PathPart.encode(name))" }

  /// Sends a request, which is conditional if the stored content has an entity tag.
  private func fetch<Content>(
    _ url: String, replacing stored: Representation<Content>?, tags: [String] = []
  ) async throws -> FetchOutcome<Representation<Content>> {
    var request = HTTPClientRequest(url: url)
    if let tag = stored?.entityTag { request.headers.add(name: "if-none-match", value: tag.text) }
    let response = try await client.execute(request, timeout: .seconds(30))
    let body = try await response.body.collect(upTo: 1 << 20)
    switch response.status {
    case .ok: return .store(try Self.representation(of: body, response.headers), tags: tags)
    case .notModified where stored?.entityTag != nil: return .keepStored()
    case .notFound, .gone: return .absent()
    default: throw UnexpectedStatus(code: response.status.code)
    }
  }

  private static func representation<Content>(
    of body: ByteBuffer, _ headers: HTTPHeaders
  ) throws -> Representation<Content> {
    Representation(
      try JSONDecoder().decode(Content.self, from: Data(body.readableBytesView)),
      entityTag: headers["etag"].first.flatMap { EntityTag($0) })
  }
}
