import NIOCore
import NIOPosix
import Synchronization

/// A minimal Redis client for caches. It has several connections and sends commands without waiting for earlier
/// replies.
final class RedisClient: Sendable {
  private let channels: [any Channel]
  private let turn = Atomic(0)

  init(_ server: RedisServer, connections: Int) async throws {
    let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers(
            ByteToMessageHandler(RedisReplyDecoder()), RedisPipelining())
        }
      }
    var channels: [any Channel] = []
    for _ in 0..<connections {
      channels.append(try await bootstrap.connect(host: "127.0.0.1", port: server.port).get())
    }
    self.channels = channels
    for channel in channels { _ = try await send("AUTH", server.password, on: channel) }
  }

  func value(forKey key: String) async throws -> [UInt8]? {
    guard case .bytes(let bytes) = try await send("GET", key) else { return nil }
    return [UInt8](bytes.readableBytesView)
  }

  func setValue(_ value: [UInt8], forKey key: String, seconds: Int) async throws {
    _ = try await send("SETEX", key, String(seconds), last: value)
  }

  func removeValue(forKey key: String) async throws { _ = try await send("DEL", key) }

  func close() async throws {
    for channel in channels { try await channel.close() }
  }

  private func send(_ words: String..., last: [UInt8]? = nil, on channel: (any Channel)? = nil) async throws
    -> RedisReply
  {
    let channel =
      channel ?? channels[turn.add(1, ordering: .relaxed).newValue % channels.count]
    var bytes = channel.allocator.buffer(capacity: 128 + (last?.count ?? 0))
    bytes.writeString("*\(words.count + (last == nil ? 0 : 1))\r\n")
    for word in words { bytes.writeString("$\(word.utf8.count)\r\n\(word)\r\n") }
    if let last {
      bytes.writeString("$\(last.count)\r\n")
      bytes.writeBytes(last)
      bytes.writeString("\r\n")
    }
    let promise = channel.eventLoop.makePromise(of: RedisReply.self)
    channel.writeAndFlush(RedisPipelining.Command(bytes: bytes, reply: promise), promise: nil)
    return try await promise.futureResult.get()
  }
}

/// Matches replies with commands. They arrive in the order of the commands.
private final class RedisPipelining: ChannelDuplexHandler {
  struct Command: Sendable {
    let bytes: ByteBuffer
    let reply: EventLoopPromise<RedisReply>
  }

  typealias InboundIn = RedisReply
  typealias OutboundIn = Command
  typealias OutboundOut = ByteBuffer

  private var waiting = CircularBuffer<EventLoopPromise<RedisReply>>()

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let command = unwrapOutboundIn(data)
    guard context.channel.isActive else { return command.reply.fail(ChannelError.ioOnClosedChannel) }
    waiting.append(command.reply)
    context.write(wrapOutboundOut(command.bytes), promise: promise)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard let reply = waiting.popFirst() else { return context.close(promise: nil) }
    switch unwrapInboundIn(data) {
    case .failure(let message): reply.fail(RedisError(message: message))
    case let other: reply.succeed(other)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    end(error)
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    end(ChannelError.ioOnClosedChannel)
    context.fireChannelInactive()
  }

  private func end(_ error: any Error) {
    while let reply = waiting.popFirst() { reply.fail(error) }
  }
}
