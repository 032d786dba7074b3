#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

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

  /// Returns the next bytes of standard input, or none at the end. The descriptor stays open.
  package static func nextOfStandardInput() throws -> [UInt8] {
    var block = [UInt8](repeating: 0, count: blockSize)
    let count = try fill(&block, from: STDIN_FILENO, name: "standard input")
    return Array(block.prefix(count))
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

  package mutating func next() throws -> ArraySlice<UInt8> {
    let count = try FileStream.fill(&block, from: descriptor, name: path)
    return block[..<count]
  }

  /// Reads the next bytes into a block, and returns their number, which is zero at the end.
  private static func fill(_ block: inout [UInt8], from descriptor: Int32, name: String) throws -> Int {
    while true {
      // The count is the size of the block, and the block outlives the call.
      let count = unsafe block.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 { return count }
      if errno != EINTR { throw TraceError(path: name, line: nil, message: readFailure(errno)) }
    }
  }

  private static func readFailure(_ code: Int32) -> String {
    switch code {
    case EISDIR: "it is a folder, not a file"
    case EBADF: "it is closed"
    default: systemErrorMessage(code)
    }
  }
}
