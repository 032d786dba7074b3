import NIOCore

/// A reply of Redis to a simple command.
enum RedisReply: Sendable {
  case bytes(ByteBuffer)
  /// The key does not exist.
  case nothing
  /// Text or a number, without its type marker.
  case line(String)
  case failure(String)
}

struct RedisError: Error {
  let message: String
}

/// Decodes replies of RESP2: a line, or a line with a length and as many bytes after it.
struct RedisReplyDecoder: ByteToMessageDecoder {
  typealias InboundOut = RedisReply

  mutating func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
    guard let end = buffer.readableBytesView.firstIndex(of: UInt8(ascii: "\r")) else { return .needMoreData }
    let length = end - buffer.readerIndex
    guard buffer.readableBytes >= length + 2, length > 0 else { return .needMoreData }
    let line = buffer.getString(at: buffer.readerIndex + 1, length: length - 1) ?? ""
    let reply: RedisReply
    var consumed = length + 2
    switch buffer.getInteger(at: buffer.readerIndex, as: UInt8.self) {
    case UInt8(ascii: "$"):
      guard let count = Int(line) else { throw RedisError(message: "a length of '\(line)'") }
      if count < 0 {
        reply = .nothing
      } else {
        guard buffer.readableBytes >= consumed + count + 2 else { return .needMoreData }
        reply = .bytes(buffer.getSlice(at: buffer.readerIndex + consumed, length: count)!)
        consumed += count + 2
      }
    case UInt8(ascii: "+"), UInt8(ascii: ":"): reply = .line(line)
    case UInt8(ascii: "-"): reply = .failure(line)
    default: throw RedisError(message: "a reply of an unknown kind")
    }
    buffer.moveReaderIndex(forwardBy: consumed)
    context.fireChannelRead(wrapInboundOut(reply))
    return .continue
  }
}
