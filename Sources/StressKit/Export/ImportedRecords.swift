import Cistern

/// The records of JSON Lines, one after the other. Empty lines are passed over.
struct ImportedRecords: ~Copyable {
  private var lines: LineReader
  private let source: String
  /// When records were created whose lines do not say.
  private let now: WallTime

  /// - Parameter source: what the lines are called in messages.
  init(_ lines: consuming LineReader, source: String, now: WallTime = SystemClock().wallTime()) {
    self.lines = lines
    self.source = source
    self.now = now
  }

  /// Lines read so far.
  var line: Int { lines.line }

  /// The next record; nil at the end. Throws ``TraceError`` for a line that is none.
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
  /// What it counts towards a commit: its key, its value and its tags.
  var size: Int { key.count + bytes.count + metadata.tags.reduce(0) { $0 + $1.utf8.count } }
}
