import Foundation

/// Another process that never outlives this one, however this one ends: its standard input is a pipe that nobody writes to, and
/// whose end it takes as its own.
final class ChildProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  /// - Parameter arguments: Of a program that ends when its standard input does.
  init(_ program: String, _ arguments: [String]) throws {
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// A program that reads no input, under a shell that does, and then kills it.
  convenience init(watched program: String, _ arguments: [String]) throws {
    let script = #""$@" </dev/null >/dev/null 2>&1 & cat >/dev/null; kill -9 $!"#
    try self.init("/bin/sh", ["-c", script, "sh", program] + arguments)
  }

  /// The first line of what it prints; nil if it ends before.
  func line() -> String? {
    var line = Data()
    while let byte = try? output.fileHandleForReading.read(upToCount: 1), let byte = byte.first, byte != UInt8(ascii: "\n") {
      line.append(byte)
    }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  /// Ends it, and waits for that.
  func stop() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
