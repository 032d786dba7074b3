import AsyncHTTPClient
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
  /// - Parameter address: The address without a slash at its end, such as `http://127.0.0.1:8081`.
  package init(address: String, client: HTTPClient = .shared) {
    self.address = address
    self.client = client
  }

  func article(_ id: String) async throws -> Article {
    try await send(HTTPClientRequest(url: "\(address)/articles/\(id)"))
  }

  func articles(by author: String) async throws -> [Article] {
    try await send(HTTPClientRequest(url: "\(address)/authors/\(author)"))
  }

  /// Changes a title. Returns the article as the origin stored it.
  func rename(_ id: String, to title: String) async throws -> Article {
    var request = HTTPClientRequest(url: "\(address)/articles/\(id)")
    request.method = .POST
    request.headers.add(name: "content-type", value: "application/json")
    request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(TitleChange(title: title))))
    return try await send(request)
  }

  private func send<Answer: Decodable>(_ request: HTTPClientRequest) async throws -> Answer {
    let response = try await client.execute(request, timeout: .seconds(30))
    let body = try await response.body.collect(upTo: 1 << 20)
    guard response.status == .ok else { throw UnexpectedStatus(code: response.status.code) }
    return try JSONDecoder().decode(Answer.self, from: Data(body.readableBytesView))
  }
}
