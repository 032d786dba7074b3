import Foundation
import Locking
import Glibc

/// Another process of this program.
final class Child {
  enum End: Equatable {
    case exited(Int32)
    case signal(Int32)
    /// The process exceeded its time limit and was killed.
    case hung
  }

  private let process = Process()
  private let output = Pipe()

  init(_ arguments: [String], environment: [String: String] = [:]) throws {
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      .merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    try process.run()
  }

  /// Kills the process with no chance to react, and returns the lines that it had printed.
  func kill() -> [String] {
    _ = Glibc.kill(process.processIdentifier, SIGKILL)
    return lines()
  }

  /// Waits for the end of the process, for at most `seconds` seconds.
  func end(within seconds: Int) -> (end: End, said: [String]) {
    let identifier = process.processIdentifier
    let isHung = Guarded(false)
    let killer = DispatchWorkItem {
      isHung.withLock { $0 = true }
      _ = Glibc.kill(identifier, SIGKILL)
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds), execute: killer)
    let said = lines()
    killer.cancel()
    if isHung.withLock({ $0 }) { return (.hung, said) }
    return (
      process.terminationReason == .uncaughtSignal
        ? .signal(process.terminationStatus) : .exited(process.terminationStatus), said
    )
  }

  private func lines() -> [String] {
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    var lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    // The text after the last line end is incomplete.
    lines.removeLast()
    return lines.map(String.init)
  }
}

func say(_ text: String) {
  let line = Array((text + "\n").utf8)
  _ = unsafe line.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
}
