import ArgumentParser
import Foundation

/// Writes reports as JSON, keys in order and readable by people too.
enum JSONOutput {
  static func encode(_ report: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(report)) + [UInt8(ascii: "\n")]
  }

  /// Writes to the file at `path`, whole or not at all; `-` is standard output.
  static func write(_ report: some Encodable, to path: String) throws {
    let bytes = try encode(report)
    if path == "-" {
      Console.current.write(bytes)
      return
    }
    do {
      try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw CommandFailure("cannot write the report to \(path): \(error.localizedDescription)", status: .badInput)
    }
  }
}
