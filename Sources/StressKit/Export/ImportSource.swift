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
    var bytes: [UInt8] = []
    while case let block = try stream.next(), !block.isEmpty { bytes += block }
    return bytes
  }

  /// The records from the first.
  func records() throws -> ImportedRecords {
    let stream = if let path { try GzipStream(path: path) } else { GzipStream(bytes: bytes, name: name) }
    return ImportedRecords(LineReader(stream, source: name, longest: 1 << 31), source: name)
  }

  /// The largest of the records, and the line that it is on; nil where there are none.
  struct Largest {
    let size: Int
    let line: Int
  }

  /// Reads all of it. Throws where it cannot be read, or a line is no record.
  func largest() throws -> Largest? {
    var records = try records()
    var largest: Largest?
    while let record = try records.next() {
      if record.size >= largest?.size ?? 0 { largest = Largest(size: record.size, line: records.line) }
    }
    return largest
  }
}
