import Locking

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The system's `write`, under a name that the console's own does not hide.
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  // Whoever calls vouches for the bytes.
  unsafe write(descriptor, bytes, count)
}

/// Where the program's output goes: standard output and error, or a test's own.
package struct Console: Sendable {
  /// Takes bytes of standard output.
  package var write: @Sendable ([UInt8]) -> Void
  /// Takes bytes of standard error.
  package var writeError: @Sendable ([UInt8]) -> Void
  /// All of standard input.
  package var readAll: @Sendable () throws -> [UInt8]
  /// Whether a person watches standard error, so that a line may be drawn over.
  package var isTerminal: Bool
  /// Why not all of standard output could be written, so far; nil where it was.
  package var outputFailure: @Sendable () -> String?

  package init(
    write: @escaping @Sendable ([UInt8]) -> Void, writeError: @escaping @Sendable ([UInt8]) -> Void,
    readAll: @escaping @Sendable () throws -> [UInt8], isTerminal: Bool,
    outputFailure: @escaping @Sendable () -> String? = { nil }
  ) {
    self.write = write
    self.writeError = writeError
    self.readAll = readAll
    self.isTerminal = isTerminal
    self.outputFailure = outputFailure
  }

  /// The console of the task that runs: the process's, unless a test gave it another.
  @TaskLocal package static var current = Console.process

  /// The process's own descriptors.
  package static let process = Console(
    write: { bytes in
      if let failure = Console.writeAll(bytes, to: STDOUT_FILENO) { firstFailure.withLock { $0 = $0 ?? failure } }
    },
    writeError: { _ = Console.writeAll($0, to: STDERR_FILENO) },
    readAll: {
      var stream = FileStream(standardInput: ())
      return try stream.readAll()
    },
    isTerminal: isatty(STDERR_FILENO) == 1,
    outputFailure: { firstFailure.withLock { $0 } }
  )

  /// Why standard output could not be written, the first time.
  private static let firstFailure = Guarded<String?>(nil)

  /// Writes a line to standard output.
  func print(_ line: some CustomStringConvertible) {
    write(Array((line.description + "\n").utf8))
  }

  /// Writes a line to standard error.
  func printError(_ line: some CustomStringConvertible) {
    writeError(Array((line.description + "\n").utf8))
  }

  /// Writes everything; why not, where it cannot.
  private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> String? {
    var rest = bytes[...]
    while !rest.isEmpty {
      // The pointer is used for as many bytes as there are, during the call.
      let count = unsafe rest.withUnsafeBytes { unsafe writeBytes(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        switch errno {
        // The reader of a pipe (`head`) has enough, and its end is not a failure.
        case EPIPE: return nil
        case EBADF: return "it is closed"
        case let code: return systemErrorMessage(code)
        }
      }
    }
    return nil
  }
}
