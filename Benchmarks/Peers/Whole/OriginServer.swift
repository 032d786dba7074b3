import Foundation
import Hummingbird
import Logging
import Workloads

/// The origin: a real HTTP server on loopback that delays each answer and counts its requests.
///
/// `GET /user/NUMBER` returns the value of that key, and `GET /requests` the number of such requests.
enum OriginServer {
  /// Runs the command `origin LATENCY`. The latency is in milliseconds. Prints the port, and runs until the standard
  /// input ends.
  static func run(_ arguments: [String]) async throws {
    guard arguments.count == 1, let latency = Double(arguments[0]) else { Whole.fail("origin LATENCY") }
    Thread.detachNewThread {
      while readLine() != nil {}
      exit(0)
    }
    var logger = Logger(label: "origin")
    logger.logLevel = .critical
    let application = Application(
      responder: responder(latency: .milliseconds(latency)),
      configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { channel in
        FileHandle.standardOutput.write(Data("\(channel.localAddress?.port ?? 0)\n".utf8))
      },
      logger: logger)
    try await application.run()
  }

  private static func responder(latency: Duration) -> CallbackResponder<BasicRequestContext> {
    let requests = Counter()
    let filling = ByteBuffer(bytes: (0..<Payload.largest).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    return CallbackResponder { request, _ in
      let path = request.uri.path.dropFirst()
      if path == "requests" {
        return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: String(requests.value))))
      }
      guard let number = Payload.number(ofKey: path) else { return Response(status: .notFound) }
      requests.increment()
      try await Task.sleep(for: latency)
      var value = ByteBuffer()
      value.reserveCapacity(Payload.size(number))
      value.writeInteger(number)
      value.writeImmutableBuffer(filling.getSlice(at: 8, length: Payload.size(number) - 8)!)
      return Response(status: .ok, body: ResponseBody(byteBuffer: value))
    }
  }
}
