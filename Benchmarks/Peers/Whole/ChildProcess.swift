import Foundation

/// A child process that never outlives this one, however this one ends. Its standard input is a pipe without data,
/// and it ends at the end of its input.
final class ChildProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  /// - Parameters:
  ///   - program: The path of a program that ends when its standard input does.
  ///   - arguments: The arguments of the program.
  /// - Throws: An error if the program cannot be started.
  init(_ program: String, _ arguments: [String]) throws {
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// Starts a program that reads no input. A shell reads the input and kills the program at its end.
  convenience init(watched program: String, _ arguments: [String]) throws {
    let script = #""$@" </dev/null >/dev/null 2>&1 & cat >/dev/null; kill -9 $!"#
    try self.init("/bin/sh", ["-c", script, "sh", program] + arguments)
  }

  /// Returns the first line of the output, or nil if the process ends before.
  func line() -> String? {
    var line = Data()
    while let byte = try? output.fileHandleForReading.read(upToCount: 1), let byte = byte.first,
      byte != UInt8(ascii: "\n")
    {
      line.append(byte)
    }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  /// Ends the process and waits for its end.
  func stop() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
