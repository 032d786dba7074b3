import Foundation
import NIOCore
import NIOPosix

/// A separate redis-server on a free port of loopback. It writes nothing to disk and ends with this process.
final class RedisServer: Sendable {
  let port: Int
  /// The password of this server. It distinguishes the server from others on the same port.
  let password = String(UInt64.random(in: 1...UInt64.max), radix: 36)
  // Unchecked: `stop` is called once, after all other uses.
  nonisolated(unsafe) private let process: ChildProcess

  /// The path of the installed program, or nil if there is none.
  static var program: String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    return (folders + ["/usr/sbin", "/usr/local/sbin"]).map { "\($0)/redis-server" }
      .first(where: FileManager.default.isExecutableFile)
  }

  /// Starts a server and waits until it responds. Another process may take the free port first, and then the next
  /// port is tried.
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
