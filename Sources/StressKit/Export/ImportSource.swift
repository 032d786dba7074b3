import Cistern

/// Where an import reads its lines from: twice, so that what can be read only once is kept.
struct ImportSource {
  /// What it is called in messages.
  let name: String
  /// Nil where all of it is kept.
  private let path: String?
  private let bytes: [UInt8]

  /// - Parameter path: a file, plain or gzip; nil for standard input.
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

  /// The records from the first.
  func records() throws -> ImportedRecords {
    let stream = if let path { try GzipStream(path: path) } else { GzipStream(bytes: bytes, name: name) }
    return ImportedRecords(LineReader(stream, source: name, longest: 1 << 31), source: name)
  }

  /// Reads everything, and returns the largest record; nil for an empty source. Throws if it cannot be read, or if a line is
  /// not a record.
  func largest() throws -> RecordSize? {
    var records = try records()
    var largest: RecordSize?
    while let record = try records.next() {
      var metadata = record.metadata
      // The size depends on whether there is an era: the greatest number stands for the one that the record gets.
      metadata.era = .max
      let size = DiskTier.recordSize(key: record.key, metadata, bytes: record.bytes)
      if size >= largest?.bytes ?? 0 {
        largest = RecordSize(subject: "\(name):\(records.line): the record", bytes: size)
      }
    }
    return largest
  }
}
