import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A process of the helper beside the tests, with a pipe from its standard output.
final class ChildProcess {
  private let process = Process()
  private let output = Pipe()
  private var pending: [UInt8] = []

  init(_ arguments: String...) throws {
    process.executableURL = try Self.helper()
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
  }

  /// The next line; nil at the end.
  func readLine() -> String? {
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

  /// Kills the process, and reads what it had said before.
  func kill() -> [String] {
    _ = Self.signal(process.processIdentifier)
    process.waitUntilExit()
    var lines: [String] = []
    while let line = readLine() { lines.append(line) }
    return lines
  }

  /// Waits until the process ends by itself; returns its status.
  func waitForEnd() -> Int32 {
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

  /// The helper lies where the tests' own bundle does.
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
