#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A source of bytes that is read once, from beginning to end.
protocol ByteStream: ~Copyable {
  /// Returns the next bytes, or an empty slice at the end.
  mutating func next() throws -> ArraySlice<UInt8>
}

/// A file that is read in blocks.
package struct FileStream: ByteStream, ~Copyable {
  static let blockSize = 64 << 10

  private let descriptor: Int32
  private let path: String
  private var block = [UInt8](repeating: 0, count: blockSize)

  package init(path: String) throws {
    let opened = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard opened >= 0 else { throw TraceError(path: path, line: nil, message: systemErrorMessage()) }
    descriptor = opened
    self.path = path
  }

  /// Creates a stream of standard input. The stream closes the descriptor, so it can be read only once.
  package init(standardInput: Void) {
    self.init(descriptor: STDIN_FILENO, name: "standard input")
  }

  /// Creates a stream of an open descriptor. The stream closes the descriptor.
  init(descriptor: Int32, name: String) {
    self.descriptor = descriptor
    path = name
  }

  deinit {
    close(descriptor)
  }

  /// Returns whether the path can be opened twice with the same contents: a pipe cannot. True if the path does not
  /// exist.
  package static func canBeReadAgain(_ path: String) -> Bool {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return true }
    return status.st_mode & S_IFMT != S_IFIFO && status.st_mode & S_IFMT != S_IFCHR
  }

  mutating func next() throws -> ArraySlice<UInt8> {
    while true {
      // The count is the size of the block, and the block outlives the call.
      let count = unsafe block.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 { return block[..<count] }
      if errno != EINTR { throw TraceError(path: path, line: nil, message: FileStream.readFailure(errno)) }
    }
  }

  /// Reads the rest of the stream. Files, pipes, and devices behave alike.
  package mutating func readAll() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while case let block = try next(), !block.isEmpty { bytes += block }
    return bytes
  }

  private static func readFailure(_ code: Int32) -> String {
    switch code {
    case EISDIR: "it is a folder, not a file"
    case EBADF: "it is closed"
    default: systemErrorMessage(code)
    }
  }
}

/// Returns the message of a failed system call.
package func systemErrorMessage(_ code: Int32 = errno) -> String {
  // `strerror` returns a terminated string, which is copied immediately.
  unsafe String(cString: strerror(code))
}
