import Foundation
import NIOCore
import NIOPosix

/// A redis-server of our own, on a free port of loopback, that writes nothing to disk and ends with this process.
final class RedisServer: Sendable {
  let port: Int
  /// Of this server alone: whoever else answers at the port is told apart by it.
  let password = String(UInt64.random(in: 1...UInt64.max), radix: 36)
  // Unchecked: `stop` is called once, when all else is done.
  nonisolated(unsafe) private let process: ChildProcess

  /// Where it is installed.
  static var program: String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    return (folders + ["/usr/sbin", "/usr/local/sbin"]).map { "\($0)/redis-server" }
      .first(where: FileManager.default.isExecutableFile)
  }

  /// Waits until it answers. The port that was free may be another's a moment later: then the next is tried.
  static func start(_ program: String) async throws -> RedisServer {
    for _ in 0..<5 {
      let server = try RedisServer(program, port: try await freePort())
      for _ in 0..<100 {
        if let client = try? await RedisClient(server, connections: 1) {
          try await client.close()
          return server
        }
        try await Task.sleep(for: .milliseconds(30))
      }
      server.stop()
    }
    Whole.fail("redis-server does not start")
  }

  private init(_ program: String, port: Int) throws {
    self.port = port
    process = try ChildProcess(
      watched: program,
      [
        "--bind", "127.0.0.1", "--port", String(port), "--save", "", "--appendonly", "no", "--daemonize", "no",
        "--maxmemory", "\(Limits.disk)", "--maxmemory-policy", "allkeys-lru", "--requirepass", password,
      ])
  }

  func stop() { process.stop() }

  private static func freePort() async throws -> Int {
    let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .bind(host: "127.0.0.1", port: 0).get()
    defer { channel.close(promise: nil) }
    return channel.localAddress?.port ?? 0
  }
}
