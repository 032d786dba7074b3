import Foundation

/// Writes reports as JSON, keys in order and readable by people too.
enum JSONOutput {
  static func encode(_ report: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(report)) + [UInt8(ascii: "\n")]
  }

  /// The file at `path`, written whole or not at all; `-` is standard output. Opened before there is a report, so that none
  /// is made in vain.
  static func file(_ path: String?) throws -> OutputFile? {
    try path.map { try OutputFile($0 == "-" ? nil : $0) }
  }

  static func write(_ report: some Encodable, to file: OutputFile) throws {
    try file.write(try encode(report))
    try file.finish()
  }
}
