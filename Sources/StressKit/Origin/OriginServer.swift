import Foundation
import Hummingbird
import Logging

/// A real HTTP server on loopback: `GET /name` answers with the newest value of the key of that name, or with 503 as
/// often as it is told to fail.
struct OriginServer: Sendable {
  let behaviour: OriginBehaviour

  /// Runs the server for as long as `body` runs, which is told where it listens.
  func run<Result: Sendable>(_ body: @escaping @Sendable (URL) async throws -> Result) async throws -> Result {
    let (ports, port) = AsyncStream.makeStream(of: Int.self)
    var logger = Logger(label: "origin")
    logger.logLevel = .critical
    let application = Application(
      responder: responder(),
      configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0), serverName: "cistern stress"),
      onServerRunning: { channel in
        port.yield(channel.localAddress?.port ?? 0)
        port.finish()
      },
      logger: logger)
    return try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask {
        do {
          try await application.run()
        } catch is CancellationError {
        } catch {
          port.finish()
          throw CommandFailure("the HTTP server on 127.0.0.1 could not be run: \(error)", status: .badInput)
        }
        return nil
      }
      group.addTask {
        guard let number = await ports.first(where: { $0 > 0 }) else {
          throw CommandFailure("the HTTP server on 127.0.0.1 did not start", status: .badInput)
        }
        return try await body(URL(string: "http://127.0.0.1:\(number)/")!)
      }
      defer { group.cancelAll() }
      while let finished = try await group.next() {
        if let result = finished { return result }
      }
      throw CommandFailure("the HTTP server on 127.0.0.1 stopped by itself", status: .badInput)
    }
  }

  private func responder() -> CallbackResponder<BasicRequestContext> {
    let numbers = Dictionary(uniqueKeysWithValues: zip(behaviour.keys.names, behaviour.keys.names.indices))
    let behaviour = behaviour
    return CallbackResponder { request, _ in
      guard let name = OriginServer.keyName(path: request.uri.path, query: request.uri.query), let key = numbers[name]
      else {
        return Response(status: .notFound)
      }
      try await behaviour.delay()
      if behaviour.fails() { return Response(status: .serviceUnavailable) }
      var payload: [UInt8]?
      if let path = behaviour.keys.path(of: key) {
        payload = try Array(Data(contentsOf: URL(fileURLWithPath: path)).prefix(FolderScan.largestFile))
      }
      let value = behaviour.value(of: key, payload: payload)
      return Response(
        status: .ok, headers: [.contentType: "application/octet-stream"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: value)))
    }
  }

  /// The name that a path and query stand for: the path without its first slash, unescaped, with the query if any.
  private static func keyName(path: String, query: String?) -> String? {
    guard let path = String(path.dropFirst()).removingPercentEncoding else { return nil }
    return query.map { "\(path)?\($0)" } ?? path
  }
}
