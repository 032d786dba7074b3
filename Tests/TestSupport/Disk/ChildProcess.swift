import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A process that runs the `DiskChild` helper, with a pipe from its standard output. It ends with this object, or with the process of
/// the tests.
package final class ChildProcess {
  private let process = Process()
  private let output = Pipe()
  // The helper ends when the write end of the pipe is closed.
  private let input = Pipe()
  private var pending: [UInt8] = []

  package convenience init(_ arguments: String...) throws {
    try self.init(arguments)
  }

  package init(_ arguments: [String]) throws {
    process.executableURL = try Self.helper()
    process.arguments = arguments
    process.standardOutput = output
    process.standardInput = input
    try process.run()
  }

  deinit {
    guard process.isRunning else { return }
    _ = Self.signal(process.processIdentifier)
    process.waitUntilExit()
  }

  /// Returns the next line of output, or nil at its end.
  package func readLine() -> String? {
    while true {
      if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: pending[..<end], as: UTF8.self)
        pending.removeSubrange(...end)
        return line
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return nil }
      pending += more
    }
  }

  /// Kills the process, and returns the remaining lines of its output.
  package func kill() -> [String] {
    _ = Self.signal(process.processIdentifier)
    process.waitUntilExit()
    var lines: [String] = []
    while let line = readLine() { lines.append(line) }
    return lines
  }

  /// Waits until the process ends by itself, and returns its exit status.
  package func waitForEnd() -> Int32 {
    while readLine() != nil {}
    process.waitUntilExit()
    return process.terminationReason == .exit ? process.terminationStatus : -1
  }

  private static func signal(_ process: pid_t) -> Int32 {
    #if canImport(Glibc)
      Glibc.kill(process, SIGKILL)
    #else
      Darwin.kill(process, SIGKILL)
    #endif
  }

  /// Returns the helper's location, which is in or above the directory of the test bundle.
  private static func helper() throws -> URL {
    var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    for _ in 0..<4 {
      let file = folder.appendingPathComponent("DiskChild")
      if FileManager.default.isExecutableFile(atPath: file.path) { return file }
      folder.deleteLastPathComponent()
    }
    throw CocoaError(.fileNoSuchFile)
  }
}
