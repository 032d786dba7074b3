/// One request of a trace.
struct TraceRequest: Equatable {
  /// The key, numbered from 0 in order of first appearance.
  let key: Int
  /// The object's size in bytes; nil where the trace has none.
  let size: Int?
}

/// Reads a trace line by line: `key`, `key,size` or `time,key,size`, the same on every line, plain or gzip, with or
/// without a line of names first. Holds the distinct keys in memory, and nothing else of the file.
struct TraceReader: ~Copyable {
  /// What stands on each line.
  enum Columns: Int {
    case key = 1
    case keyAndSize = 2
    case timeKeyAndSize = 3
  }

  private static let longestLine = 1 << 20

  let path: String
  /// Lines read so far.
  var line: Int { lines.line }
  /// The keys in the order of their numbers, as they are written in the file.
  private(set) var keys: [String] = []
  private var columns: Columns?
  private var numbers: [String: Int] = [:]
  private var lines: LineReader
  private var hasRequests = false

  init(path: String) throws {
    self.path = path
    lines = LineReader(try GzipStream(path: path), source: path, longest: TraceReader.longestLine)
  }

  /// Reads these bytes, as if they were a file's; `name` is what messages call them.
  init(bytes: [UInt8], name: String) {
    path = name
    lines = LineReader(GzipStream(bytes: bytes, name: name), source: name, longest: TraceReader.longestLine)
  }

  /// The next request; nil at the end. Throws where a line is malformed, and where the whole file has no request.
  mutating func next() throws -> TraceRequest? {
    while let text = try lines.next() {
      let fields = text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map(TraceReader.trim)
      if columns == nil {
        guard let found = Columns(rawValue: fields.count) else {
          throw failure("expected key, or key,size or time,key,size; found \(fields.count) fields")
        }
        columns = found
        if line == 1 && TraceReader.isHeader(fields) { continue }
      }
      hasRequests = true
      return try request(fields)
    }
    guard hasRequests else { throw TraceError(path: path, line: nil, message: "the trace has no requests") }
    return nil
  }

  private mutating func request(_ fields: [ArraySlice<UInt8>]) throws -> TraceRequest {
    guard let columns, fields.count == columns.rawValue else {
      throw failure("expected \(columns?.rawValue ?? 0) fields, as on the first line; found \(fields.count)")
    }
    switch columns {
    case .key:
      return TraceRequest(key: try number(ofKey: fields[0]), size: nil)
    case .keyAndSize:
      return TraceRequest(key: try number(ofKey: fields[0]), size: try size(fields[1]))
    case .timeKeyAndSize:
      guard Double(String(decoding: fields[0], as: UTF8.self)) != nil else {
        throw failure("the time is no number: '\(String(decoding: fields[0], as: UTF8.self))'")
      }
      return TraceRequest(key: try number(ofKey: fields[1]), size: try size(fields[2]))
    }
  }

  private mutating func number(ofKey field: ArraySlice<UInt8>) throws -> Int {
    guard !field.isEmpty else { throw failure("the key is missing") }
    let key = String(decoding: field, as: UTF8.self)
    if let number = numbers[key] { return number }
    numbers[key] = keys.count
    keys.append(key)
    return keys.count - 1
  }

  private func size(_ field: ArraySlice<UInt8>) throws -> Int {
    let text = String(decoding: field, as: UTF8.self)
    guard let size = Int(text), (0...1 << 50).contains(size) else {
      throw failure("the size is no whole number of bytes: '\(text)'")
    }
    return size
  }

  private func failure(_ message: String) -> TraceError {
    TraceError(path: path, line: line, message: message)
  }

  private static func trim(_ field: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
    var field = field.drop(while: isBlank)
    while let last = field.last, isBlank(last) { field.removeLast() }
    return field
  }

  private static func isHeader(_ fields: [ArraySlice<UInt8>]) -> Bool {
    let names: Set = ["time", "timestamp", "key", "id", "obj_id", "object", "size", "obj_size", "bytes"]
    return fields.allSatisfy { names.contains(String(decoding: $0, as: UTF8.self).lowercased()) }
  }
}
