import Cistern
import InputFormats

/// The records of a stream of JSON Lines. Empty lines are skipped.
struct ImportedRecords: ~Copyable {
  private var lines: LineReader
  private let source: String
  /// The creation time of records without one.
  private let now: WallTime

  /// - Parameters:
  ///   - lines: The lines.
  ///   - source: The name of the stream in messages.
  ///   - now: The time of the import.
  init(_ lines: consuming LineReader, source: String, now: WallTime = SystemClock().wallTime()) {
    self.lines = lines
    self.source = source
    self.now = now
  }

  /// The number of lines that were read.
  var line: Int { lines.line }

  /// Returns the next record, or nil at the end of the stream. Throws ``TraceError`` for a line that is not a
  /// record.
  mutating func next() throws -> ExportedRecord? {
    while let line = try lines.next() {
      if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
      do {
        return try ExportedRecord(line: Array(line), now: now)
      } catch {
        throw TraceError(path: source, line: lines.line, message: error.description)
      }
    }
    return nil
  }
}

extension ExportedRecord {
  /// The number of bytes that the record adds to a commit: those of its key, its value, and its tags.
  var size: Int { key.count + bytes.count + metadata.tags.reduce(0) { $0 + $1.utf8.count } }
}
