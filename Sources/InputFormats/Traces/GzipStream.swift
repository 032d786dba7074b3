import CZlib

/// The uncompressed bytes of a gzip file with one or more members. A file in another format is returned unchanged.
@safe
package struct GzipStream: ByteStream, ~Copyable {
  private enum State {
    /// No byte has been read.
    case fresh
    /// The file is not compressed, and its bytes are returned unchanged.
    case plain
    /// Inside a compressed member.
    case inflating
    /// After the end of a member. Another one may follow.
    case betweenMembers
  }

  /// Returns the next bytes of the source, or none at the end.
  private let source: () throws -> ArraySlice<UInt8>
  private let path: String
  /// The maximum number of bytes that one call of zlib receives. It counts them with 32 bits.
  private let largestPortion: Int
  private var state = State.fresh
  private var input: ArraySlice<UInt8> = []
  private var output = [UInt8](repeating: 0, count: 4 * FileStream.blockSize)
  /// zlib keeps the address of this structure, so it must not move. It is on the heap, and `deinit` frees it.
  private let stream: UnsafeMutablePointer<z_stream>

  package init(path: String) throws {
    let file = try OpenFile(path: path)
    self.init(name: path) { try file.next() }
  }

  /// Creates a stream of bytes in memory. `name` identifies it in messages.
  package init(bytes: [UInt8], name: String) {
    self.init(bytes: bytes, name: name, largestPortion: GzipStream.largestPortion)
  }

  /// Creates a stream of bytes in memory that passes at most `largestPortion` of them to zlib in one call.
  init(bytes: [UInt8], name: String, largestPortion: Int) {
    self.init(name: name, largestPortion: largestPortion) { [] }
    input = bytes[...]
  }

  /// Creates a stream of the bytes that `source` returns: the next ones, or none at the end. `name` identifies it in
  /// messages.
  package init(name: String, source: @escaping () throws -> ArraySlice<UInt8>) {
    self.init(name: name, largestPortion: GzipStream.largestPortion, source: source)
  }

  private static let largestPortion = 1 << 30

  private init(name: String, largestPortion: Int, source: @escaping () throws -> ArraySlice<UInt8>) {
    self.source = source
    self.largestPortion = largestPortion
    path = name
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
  }

  deinit {
    // `inflateEnd` returns an error, and does nothing, if the stream was never initialized.
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
  }

  package mutating func next() throws -> ArraySlice<UInt8> {
    while true {
      if input.isEmpty { input = try source() }
      switch state {
      case .fresh:
        // A pipe can return the first byte alone.
        if input.count == 1 { input += try source() }
        guard input.starts(with: [0x1F, 0x8B]) else {
          state = .plain
          continue
        }
        // A window of 15 bits. The addition of 16 selects the gzip format.
        guard unsafe inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
          throw failure("zlib could not be initialized")
        }
        state = .inflating
      case .plain:
        defer { input = [] }
        return input
      case .betweenMembers:
        if input.isEmpty { return [] }
        unsafe inflateReset(stream)
        state = .inflating
      case .inflating:
        if input.isEmpty { throw failure("the compressed file ends early") }
        let unpacked = try inflate()
        if !unpacked.isEmpty { return unpacked }
      }
    }
  }

  /// Uncompresses as much input as the output buffer can hold.
  private mutating func inflate() throws -> ArraySlice<UInt8> {
    var status = Z_OK
    var left = 0
    let portion = min(input.count, largestPortion)
    let room = output.count
    // Both buffers outlive the call, and are at least as large as the sizes that are passed with them.
    unsafe input.withUnsafeBufferPointer { packed in
      unsafe output.withUnsafeMutableBufferPointer { unpacked in
        unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: packed.baseAddress)
        unsafe stream.pointee.avail_in = UInt32(portion)
        unsafe stream.pointee.next_out = unpacked.baseAddress
        unsafe stream.pointee.avail_out = UInt32(unpacked.count)
        status = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
        left = unsafe Int(stream.pointee.avail_in)
      }
    }
    let produced = unsafe room - Int(stream.pointee.avail_out)
    input = input.dropFirst(portion - left)
    switch status {
    case Z_OK: break
    case Z_STREAM_END: state = .betweenMembers
    case Z_BUF_ERROR where produced == 0 && left > 0: throw failure("the compressed file is damaged")
    case Z_BUF_ERROR: break
    default: throw failure("the compressed file is damaged")
    }
    return output[..<produced]
  }

  private func failure(_ message: String) -> TraceError {
    TraceError(path: path, line: nil, message: message)
  }
}
