import CisternCore

/// The lines of a stream, plain or gzip.
package struct LineReader: ~Copyable {
  /// The number of lines that were read.
  package private(set) var line = 0
  private let source: String
  private let longest: Int
  private var stream: GzipStream
  private var pending: ArraySlice<UInt8> = []
  private var partialLine: [UInt8] = []

  /// - Parameters:
  ///   - stream: The stream.
  ///   - source: The name of the stream in messages.
  ///   - longest: The maximum length of a line in bytes.
  package init(_ stream: consuming GzipStream, source: String, longest: Int) {
    self.stream = stream
    self.source = source
    self.longest = longest
  }

  /// Returns the next line without its line feed, or nil at the end. The last line need not have a line feed.
  package mutating func next() throws -> ArraySlice<UInt8>? {
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
      guard partialLine.count < longest else {
        throw TraceError(path: source, line: line + 1, message: "the line is longer than \(ByteCount.bytes(longest))")
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
