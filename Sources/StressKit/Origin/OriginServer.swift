import Foundation
import Hummingbird
import Logging

/// An HTTP server on the loopback interface.
///
/// `GET /name` returns the newest value of the key with this name. At the configured failure rate, it returns
/// status 503.
struct OriginServer: Sendable {
  let behaviour: OriginBehaviour

  /// Runs the server during the call of `body`. The closure receives the address of the server.
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
          throw CommandFailure("the HTTP server on 127.0.0.1 failed: \(error)", status: .badInput)
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
      throw CommandFailure("the HTTP server on 127.0.0.1 stopped unexpectedly", status: .badInput)
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

  /// Returns the name of the key in a path and a query: the decoded path without its first slash, with the query.
  private static func keyName(path: String, query: String?) -> String? {
    guard let path = String(path.dropFirst()).removingPercentEncoding else { return nil }
    return query.map { "\(path)?\($0)" } ?? path
  }
}
