import CisternCore

/// The lines of a stream, plain or gzip. A byte order mark before the first line is no part of it.
package struct LineReader: ~Copyable {
  /// The number of lines that were read.
  package private(set) var line = 0
  private let source: String
  private let longest: LineLimit
  private var stream: GzipStream
  private var pending: ArraySlice<UInt8> = []
  private var partialLine: [UInt8] = []

  /// - Parameters:
  ///   - stream: The stream.
  ///   - source: The name of the stream in messages.
  ///   - longest: The maximum length of a line.
  package init(_ stream: consuming GzipStream, source: String, longest: LineLimit) {
    self.stream = stream
    self.source = source
    self.longest = longest
  }

  /// The byte order mark of UTF-8, which some editors write at the start of a file.
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Returns the next line without its line feed, or nil at the end. The last line need not have a line feed.
  package mutating func next() throws -> ArraySlice<UInt8>? {
    guard let text = try nextText() else { return nil }
    return line == 1 && text.starts(with: LineReader.byteOrderMark) ? text.dropFirst(3) : text
  }

  private mutating func nextText() throws -> ArraySlice<UInt8>? {
    while true {
      if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
        let tail = pending[..<end]
        pending = pending[(end + 1)...]
        line += 1
        if partialLine.isEmpty { return tail }
        defer { partialLine = [] }
        return (partialLine + tail)[...]
      }
      partialLine += pending
      guard partialLine.count < longest.bytes else {
        throw TraceError(path: source, line: line + 1, message: longest.excess)
      }
      do {
        pending = try stream.next()
      } catch let error as TraceError {
        // If the source cannot be read at all, the message has no line number.
        let isUnread = line == 0 && partialLine.isEmpty
        throw TraceError(path: source, line: isUnread ? nil : line + 1, message: error.message)
      }
      guard !pending.isEmpty else {
        defer { partialLine = [] }
        if partialLine.isEmpty { return nil }
        line += 1
        return partialLine[...]
      }
    }
  }
}
