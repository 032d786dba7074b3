/// One request of a trace.
package struct TraceRequest: Equatable {
  /// The number of the key, from 0, in the order of first appearance.
  package let key: Int
  /// The size of the object in bytes, or nil if the trace has no sizes.
  package let size: Int?
}

/// A reader of traces, which reads one line at a time.
///
/// Each line is `key`, `key,size` or `time,key,size`, in the same form on every line. The file is plain or gzip,
/// and its first line can have the names of the columns. Only the distinct keys are kept in memory.
package struct TraceReader: ~Copyable {
  /// The columns of each line.
  enum Columns: Int {
    case key = 1
    case keyAndSize = 2
    case timeKeyAndSize = 3
  }

  private static let longestLine = LineLimit(bytes: 1 << 20)

  let path: String
  /// The number of lines that were read.
  package var line: Int { lines.line }
  /// The keys in the order of their numbers, as texts that differ from each other. A key with bytes that are not text
  /// has escapes.
  package private(set) var keys: [String] = []
  private var columns: Columns?
  private var numbers: [[UInt8]: Int] = [:]
  private var lines: LineReader
  private var hasRequests = false

  package init(path: String) throws {
    self.path = path
    lines = LineReader(try GzipStream(path: path), source: path, longest: TraceReader.longestLine)
  }

  /// Creates a reader of bytes in memory. `name` identifies them in messages.
  package init(bytes: [UInt8], name: String) {
    path = name
    lines = LineReader(GzipStream(bytes: bytes, name: name), source: name, longest: TraceReader.longestLine)
  }

  /// Returns the next request, or nil at the end. Throws if a line is malformed, or if the file has no request.
  package mutating func next() throws -> TraceRequest? {
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
        throw failure("the time is not a number: '\(String(decoding: fields[0], as: UTF8.self))'")
      }
      return TraceRequest(key: try number(ofKey: fields[1]), size: try size(fields[2]))
    }
  }

  private mutating func number(ofKey field: ArraySlice<UInt8>) throws -> Int {
    guard !field.isEmpty else { throw failure("the key is missing") }
    // A repaired text would make different keys equal.
    let key = Array(field)
    if let number = numbers[key] { return number }
    numbers[key] = keys.count
    keys.append(KeyText.distinct(key))
    return keys.count - 1
  }

  private func size(_ field: ArraySlice<UInt8>) throws -> Int {
    let text = String(decoding: field, as: UTF8.self)
    guard let size = Int(text), (0...1 << 50).contains(size) else {
      throw failure("the size is not a whole number of bytes: '\(text)'")
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
