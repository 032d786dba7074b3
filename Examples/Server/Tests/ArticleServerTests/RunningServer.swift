import ArticleServer
import AsyncHTTPClient
import CisternTesting
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import ServiceLifecycle

/// A server and its origin on the loopback interface, for one test.
struct RunningServer: Sendable {
  let origin: LoopbackOrigin
  let clock: ManualClock
  let directory: String
  /// Ends the server as `SIGTERM` does.
  let group: ServiceGroup
  private let connection: Connection

  private struct Connection {
    let address: String
    /// With more connections than the requests that a test holds at a gate.
    let client: HTTPClient
  }

  struct Answer: Sendable {
    let status: UInt
    let cacheStatus: String?
    let entityTag: String?
    let body: Data

    var text: String { String(decoding: body, as: UTF8.self) }

    func decode<Value: Decodable>(_: Value.Type = Value.self) throws -> Value {
      try JSONDecoder().decode(Value.self, from: body)
    }
  }

  /// Runs a server during `body`, then shuts it down and waits until it has ended. Its directory exists during
  /// `afterwards`.
  static func run(
    _ articles: [Article], _ body: (RunningServer) async throws -> Void,
    afterwards: (RunningServer) async throws -> Void = { _ in }
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "article-server-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let origin = LoopbackOrigin(articles)
    var clientSettings = HTTPClient.Configuration()
    clientSettings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
    let client = HTTPClient(configuration: clientSettings)
    let (originPorts, originPort) = AsyncStream.makeStream(of: Int.self)
    let quiet = Logger(label: "quiet") { _ in SwiftLogNoOpLogHandler() }
    let originApplication = Application(
      router: origin.router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { originPort.yield($0.localAddress?.port ?? 0) }, logger: quiet)
    let originGroup = ServiceGroup(services: [originApplication], logger: quiet)
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { try await originGroup.run() }
      let clock = ManualClock()
      let (ports, port) = AsyncStream.makeStream(of: Int.self)
      var settings = ServerSettings(
        directory: folder.path, origin: "http://127.0.0.1:\(await originPorts.first { _ in true } ?? 0)")
      settings.port = 0
      settings.clock = clock
      settings.onRunning = { port.yield($0) }
      let group = ServiceGroup(services: try ArticleServer(settings, logger: quiet).services, logger: quiet)
      tasks.addTask { try await group.run() }
      let server = RunningServer(
        origin: origin, clock: clock, directory: folder.path, group: group,
        connection: Connection(address: "http://127.0.0.1:\(await ports.first { _ in true } ?? 0)", client: client))
      do {
        try await body(server)
      } catch {
        origin.reads.open()
        origin.changes.open()
        await group.triggerGracefulShutdown()
        await originGroup.triggerGracefulShutdown()
        try await client.shutdown()
        throw error
      }
      await group.triggerGracefulShutdown()
      _ = try await tasks.next()
      await originGroup.triggerGracefulShutdown()
      try await client.shutdown()
      try await tasks.waitForAll()
      try await afterwards(server)
    }
  }

  func get(_ path: String, ifNoneMatch tags: String? = nil) async throws -> Answer {
    var request = HTTPClientRequest(url: connection.address + path)
    if let tags { request.headers.add(name: "if-none-match", value: tags) }
    return try await send(request)
  }

  func post(_ path: String, _ value: some Encodable) async throws -> Answer {
    var request = HTTPClientRequest(url: connection.address + path)
    request.method = .POST
    request.headers.add(name: "content-type", value: "application/json")
    request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(value)))
    return try await send(request)
  }

  /// Begins a response whose body arrives in parts.
  func stream(_ path: String) async throws -> HTTPClientResponse {
    try await connection.client.execute(HTTPClientRequest(url: connection.address + path), timeout: .seconds(60))
  }

  private func send(_ request: HTTPClientRequest) async throws -> Answer {
    let response = try await connection.client.execute(request, timeout: .seconds(60))
    let body = try await response.body.collect(upTo: 1 << 20)
    return Answer(
      status: response.status.code, cacheStatus: response.headers["cache-status"].first,
      entityTag: response.headers["etag"].first, body: Data(body.readableBytesView))
  }
}
