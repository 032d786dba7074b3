import Foundation

/// Output of reports as indented JSON with sorted keys.
enum JSONOutput {
  static func encode(_ report: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(report)) + [UInt8(ascii: "\n")]
  }

  /// Opens the output file, or standard output if the path is `-`. The file appears only when it is complete.
  ///
  /// A command opens the file before it computes the report, so that an invalid path fails early.
  static func file(_ path: String?) throws -> OutputFile? {
    try path.map { try OutputFile($0) }
  }

  static func write(_ report: some Encodable, to file: OutputFile) throws {
    try file.write(try encode(report))
    try file.finish()
  }
}
