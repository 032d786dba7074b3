import Cistern
import CisternDisk
import InputFormats

/// The source of an import. The import reads it twice, so a source that can be read only once is kept in memory.
struct ImportSource {
  /// The name of the source in messages.
  let name: String
  /// The path of the file, or nil if the source can be read only once.
  private let path: String?
  private let kept: KeptInput?
  private let longestLine: LineLimit

  /// - Parameters:
  ///   - path: The path of a plain or gzip file, or nil for standard input.
  ///   - largestRecord: The size of the largest record that the store can hold, in bytes.
  /// - Throws: An error if the file cannot be opened.
  init(_ path: String?, largestRecord: Int) throws {
    name = path ?? "standard input"
    longestLine = ImportSource.longestLine(largestRecord: largestRecord)
    if let path, FileStream.canBeReadAgain(path) {
      (self.path, kept) = (path, nil)
    } else {
      (self.path, kept) = (nil, KeptInput(try InputBytes(path)))
    }
  }

  /// Returns the limit of a line. Without it, an input without line ends would fill the memory.
  ///
  /// JSON has at most six bytes for one byte of a text: `\u0041`. The rest is room for the other members.
  private static func longestLine(largestRecord: Int) -> LineLimit {
    LineLimit(bytes: 6 * largestRecord + (64 << 10), consequence: "the store cannot hold such a record")
  }

  /// Returns a reader at the first record, for the second reading.
  func records() throws -> ImportedRecords {
    if let path { return records(of: try GzipStream(path: path)) }
    return records(of: GzipStream(bytes: kept?.bytes ?? [], name: name))
  }

  private func recordsOfFirstReading() throws -> ImportedRecords {
    guard let kept else { return try records() }
    return records(of: GzipStream(name: name) { try kept.next() })
  }

  private func records(of stream: consuming GzipStream) -> ImportedRecords {
    ImportedRecords(LineReader(stream, source: name, longest: longestLine), source: name)
  }

  /// The maximum number of a record's tags. The store refuses a record with more, and removes the key's older one.
  private static let mostTags = Int(UInt16.max)

  /// Reads all records, and returns the largest one, or nil for an empty source. Throws if the source cannot be
  /// read, if a line is not a record, or if a record has too many tags.
  func largest() throws -> RecordSize? {
    var records = try recordsOfFirstReading()
    var largest: RecordSize?
    while let record = try records.next() {
      var metadata = record.metadata
      guard metadata.tags.count <= ImportSource.mostTags else {
        throw TraceError(
          path: name, line: records.line,
          message: "the record has \(Formatting.count(metadata.tags.count)) tags, but a store holds records of at most "
            + "\(Formatting.count(ImportSource.mostTags))")
      }
      // The size depends on whether the record has an invalidation version. The maximum stands for the version that
      // it gets later.
      metadata.invalidationVersion = .max
      let size = DiskTier.recordSize(key: record.key, metadata, bytes: record.bytes)
      if size >= largest?.bytes ?? 0 {
        largest = RecordSize(subject: "\(name):\(records.line): the record", bytes: size)
      }
    }
    return largest
  }
}

/// An input that is read once, and keeps its bytes.
private final class KeptInput {
  private let input: InputBytes
  private(set) var bytes: [UInt8] = []

  init(_ input: InputBytes) {
    self.input = input
  }

  func next() throws -> ArraySlice<UInt8> {
    let block = try input.next()
    bytes += block
    return block
  }
}
