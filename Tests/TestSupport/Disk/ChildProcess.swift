import Foundation
import TestProcesses

/// A process that runs the `DiskChild` helper, with a pipe from its standard output. It ends with this object, or with
/// the process of the tests.
package final class ChildProcess {
  private let process: SpawnedProcess
  private let output = Pipe()
  // The helper ends when the write end of the pipe is closed.
  private let input = Pipe()
  private var pending: [UInt8] = []

  package convenience init(_ arguments: String...) throws {
    try self.init(arguments)
  }

  package init(_ arguments: [String]) throws {
    process = try SpawnedProcess(
      Self.helper().path, arguments,
      descriptors: (input.fileHandleForReading.fileDescriptor, output.fileHandleForWriting.fileDescriptor, nil))
    try input.fileHandleForReading.close()
    try output.fileHandleForWriting.close()
  }

  deinit {
    process.kill()
    _ = process.waitForEnd()
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

  /// Whether the process has ended.
  package var hasEnded: Bool { process.hasEnded }

  /// Kills the process, and returns the remaining lines of its output.
  package func kill() -> [String] {
    process.kill()
    _ = process.waitForEnd()
    var lines: [String] = []
    while let line = readLine() { lines.append(line) }
    return lines
  }

  /// Reads up to this many lines, and kills the process. Returns the last number that it printed, or 0 if it printed
  /// none.
  package func kill(afterLines count: Int) -> Int {
    var lines: [String] = []
    while lines.count < count, let line = readLine() { lines.append(line) }
    return (lines + kill()).compactMap { Int($0) }.last ?? 0
  }

  /// Waits until the process ends by itself, and returns its exit status.
  package func waitForEnd() -> Int32 {
    while readLine() != nil {}
    return process.waitForEnd()
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
