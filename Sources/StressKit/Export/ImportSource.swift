import Cistern
import CisternDisk
import InputFormats

/// The source of an import. The import reads it twice, so a source that can be read only once is kept in memory.
struct ImportSource {
  /// The name of the source in messages.
  let name: String
  /// The path of the file, or nil if the bytes are in memory.
  private let path: String?
  private let bytes: [UInt8]

  /// - Parameter path: The path of a plain or gzip file, or nil for standard input.
  /// - Throws: An error if the file cannot be read.
  init(_ path: String?) throws {
    name = path ?? "standard input"
    do {
      guard let path else {
        (self.path, bytes) = (nil, try Console.current.readAll())
        return
      }
      (self.path, bytes) = FileStream.canBeReadAgain(path) ? (path, []) : (nil, try ImportSource.readAll(path))
    } catch let error as TraceError {
      throw CommandFailure("\(error); nothing was imported", status: .badInput)
    } catch {
      throw CommandFailure("cannot read \(name): \(error)", status: .badInput)
    }
  }

  private static func readAll(_ path: String) throws -> [UInt8] {
    var stream = try FileStream(path: path)
    return try stream.readAll()
  }

  /// Returns a reader at the first record.
  func records() throws -> ImportedRecords {
    let stream = if let path { try GzipStream(path: path) } else { GzipStream(bytes: bytes, name: name) }
    return ImportedRecords(LineReader(stream, source: name, longest: 1 << 31), source: name)
  }

  /// Reads all records, and returns the largest one, or nil for an empty source. Throws if the source cannot be
  /// read, or if a line is not a record.
  func largest() throws -> RecordSize? {
    var records = try records()
    var largest: RecordSize?
    while let record = try records.next() {
      var metadata = record.metadata
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
