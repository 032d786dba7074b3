import AsyncHTTPClient
import Foundation
import NIOCore

/// The origin as its clients see it. All subjects use the same HTTP client.
final class Origin: Sendable {
  private let client: HTTPClient
  private let base: String

  /// - Parameters:
  ///   - port: The port of the origin on the loopback interface.
  ///   - connections: The maximum number of concurrent connections.
  init(port: Int, connections: Int) {
    var configuration = HTTPClient.Configuration()
    configuration.httpVersion = .http1Only
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    base = "http://127.0.0.1:\(port)/"
  }

  @Sendable func value(forKey key: String) async throws -> [UInt8] {
    [UInt8](try await body(of: key).readableBytesView)
  }

  /// Returns the number of requests for values since the origin started.
  func requestCount() async throws -> Int {
    let text = String(buffer: try await body(of: "requests"))
    guard let number = Int(text) else { Whole.fail("the origin's request count is not a number: '\(text)'") }
    return number
  }

  func close() async throws { try await client.shutdown() }

  private func body(of path: String) async throws -> ByteBuffer {
    let response = try await client.execute(HTTPClientRequest(url: base + path), timeout: .seconds(60))
    guard response.status == .ok else { Whole.fail("the origin answered with \(response.status)") }
    return try await response.body.collect(upTo: 1 << 20)
  }
}
