#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A source of bytes that is read once, from front to back.
protocol ByteStream: ~Copyable {
  /// The next bytes, some at a time; empty at the end.
  mutating func next() throws -> ArraySlice<UInt8>
}

/// A file, read in blocks.
struct FileStream: ByteStream, ~Copyable {
  static let blockSize = 64 << 10

  private let descriptor: Int32
  private let path: String
  private var block = [UInt8](repeating: 0, count: blockSize)

  init(path: String) throws {
    let opened = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard opened >= 0 else { throw TraceError(path: path, line: nil, message: systemErrorMessage()) }
    descriptor = opened
    self.path = path
  }

  /// Standard input. It is closed with the stream: nothing can be read from it afterwards.
  init(standardInput: Void) {
    self.init(descriptor: STDIN_FILENO, name: "standard input")
  }

  /// Reads from an open descriptor, which the stream closes.
  init(descriptor: Int32, name: String) {
    self.descriptor = descriptor
    path = name
  }

  deinit {
    close(descriptor)
  }

  /// Whether what is there can be opened twice, and is the same each time: not a pipe. True where nothing is there.
  static func canBeReadAgain(_ path: String) -> Bool {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return true }
    return status.st_mode & S_IFMT != S_IFIFO && status.st_mode & S_IFMT != S_IFCHR
  }

  mutating func next() throws -> ArraySlice<UInt8> {
    while true {
      // The block is as large as the count given with it, and outlives the call.
      let count = unsafe block.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 { return block[..<count] }
      if errno != EINTR { throw TraceError(path: path, line: nil, message: FileStream.readFailure(errno)) }
    }
  }

  /// Everything that is left. Files, pipes and devices are read alike.
  mutating func readAll() throws -> [UInt8] {
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

/// What the last failed system call says went wrong, as a sentence.
func systemErrorMessage(_ code: Int32 = errno) -> String {
  // strerror answers with a terminated string that is copied at once.
  unsafe String(cString: strerror(code))
}
