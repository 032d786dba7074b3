import InputFormats
import Locking

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The system's `write`. The separate name is necessary because `Console.write` hides the system's.
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  // The caller guarantees that `bytes` points to `count` bytes during the call.
  unsafe write(descriptor, bytes, count)
}

/// The input and output of the program: those of the process, or those of a test.
package struct Console: Sendable {
  /// Writes bytes to standard output.
  package var write: @Sendable ([UInt8]) -> Void
  /// Writes bytes to standard error.
  package var writeError: @Sendable ([UInt8]) -> Void
  /// Returns the next bytes of standard input, or none at the end.
  package var readNext: @Sendable () throws -> [UInt8]
  /// Whether standard error is a terminal, so that a line can be overwritten.
  package var isTerminal: Bool
  /// Returns the state of standard output after the writes so far.
  package var outputState: @Sendable () -> OutputState

  /// The state of an output after writes.
  package enum OutputState: Sendable {
    case intact
    /// The reader of a pipe (`head`) has closed it early. This is not a failure.
    case unread
    /// A write failed for the reason.
    case failed(String)
  }

  package init(
    write: @escaping @Sendable ([UInt8]) -> Void, writeError: @escaping @Sendable ([UInt8]) -> Void,
    readNext: @escaping @Sendable () throws -> [UInt8], isTerminal: Bool,
    outputState: @escaping @Sendable () -> OutputState = { .intact }
  ) {
    self.write = write
    self.writeError = writeError
    self.readNext = readNext
    self.isTerminal = isTerminal
    self.outputState = outputState
  }

  /// The console of the current task: that of the process, unless a test replaces it.
  @TaskLocal package static var current = Console.process

  /// The console with the standard descriptors of the process.
  package static let process = Console(
    write: { bytes in
      let state = Console.writeAll(bytes, to: STDOUT_FILENO)
      // The first failure stays.
      stateOfProcess.withLock { if case .intact = $0 { $0 = state } }
    },
    writeError: { _ = Console.writeAll($0, to: STDERR_FILENO) },
    readNext: { try FileStream.nextOfStandardInput() },
    isTerminal: isatty(STDERR_FILENO) == 1,
    outputState: { stateOfProcess.withLock { $0 } }
  )

  /// The state of the process's standard output.
  private static let stateOfProcess = Guarded(OutputState.intact)

  /// Whether further output can be received.
  var hasReader: Bool { if case .unread = outputState() { false } else { true } }

  /// Throws if standard output could not be written completely so far.
  func requireOutput() throws {
    guard case .failed(let failure) = outputState() else { return }
    throw CommandFailure("standard output could not be written completely: \(failure)", status: .badInput)
  }

  /// Writes a line to standard output.
  func print(_ line: some CustomStringConvertible) {
    write(Array((line.description + "\n").utf8))
  }

  /// Writes a line to standard error.
  func printError(_ line: some CustomStringConvertible) {
    writeError(Array((line.description + "\n").utf8))
  }

  /// Writes all bytes, unless a write fails.
  private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> OutputState {
    var rest = bytes[...]
    while !rest.isEmpty {
      // The pointer is valid for the given number of bytes during the call.
      let count = unsafe rest.withUnsafeBytes { unsafe writeBytes(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        switch errno {
        case EPIPE: return .unread
        case EBADF: return .failed("it is closed")
        case let code: return .failed(systemErrorMessage(code))
        }
      }
    }
    return .intact
  }
}
