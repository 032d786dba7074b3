import LMDB

/// The records that a transaction appends to extents, until they are in the file.
///
/// The records of an extent are written together: when the extent is full, or before the commit. Nothing that is
/// committed refers to them before that. If the transaction aborts, the writer is discarded, and the bytes in the file
/// have no effect.
struct ExtentWriter {
  /// The records at the end of an extent that are not in the file.
  private struct Buffer {
    let extent: ExtentNumber
    /// The offset of the first record.
    let start: Int
    var bytes: [UInt8] = []

    /// Returns whether the record at an offset is in the buffer.
    func has(_ offset: Int, of extent: ExtentNumber) -> Bool {
      extent == self.extent && offset >= start && offset < start + bytes.count
    }
  }

  private let layout: ExtentLayout
  private let pageSize: Int
  private var buffers: [Extent.Stream: Buffer] = [:]
  /// The number of bytes that were written to the file.
  private(set) var writtenBytes = 0

  init(layout: ExtentLayout, pageSize: Int) {
    self.layout = layout
    self.pageSize = pageSize
  }

  /// Adds a record at the address that the log has given to it.
  ///
  /// - Parameters:
  ///   - room: The number of bytes of the record and its zeros.
  ///   - address: The address.
  ///   - stream: The stream for which the log has given the address.
  ///   - values: The extents of the file.
  ///   - encode: Writes the record. It must set all bytes.
  /// - Throws: `LMDBError` if the extent cannot be read or written.
  mutating func append(
    _ room: Int, at address: RecordAddress, in stream: Extent.Stream,
    to values: inout some ExtentValues & ~Copyable & ~Escapable, _ encode: (inout MutableRawSpan) -> Void
  ) throws(LMDBError) {
    guard case .inExtent(let extent, let offset)? = address.location(in: layout) else {
      preconditionFailure("the record is a separate value")
    }
    if let buffer = buffers[stream], buffer.extent != extent { try write(stream, to: &values) }
    var buffer = buffers.removeValue(forKey: stream) ?? Buffer(extent: extent, start: offset)
    let position = offset - buffer.start
    precondition(position == buffer.bytes.count, "the records of an extent do not follow each other")
    buffer.bytes.append(addingCapacity: room) { $0.append(repeating: 0, count: room) }
    var span = buffer.bytes.mutableSpan
    // Every pattern of bytes is valid.
    var bytes = unsafe span.mutableBytes
    var target = bytes._mutatingExtracting(position..<position + room)
    encode(&target)
    buffers[stream] = buffer
  }

  /// Writes all records to the file. It must be the last change before the commit.
  mutating func flush(to values: inout some ExtentValues & ~Copyable & ~Escapable) throws(LMDBError) {
    for stream in Extent.Stream.allCases { try write(stream, to: &values) }
  }

  /// Calls `body` with the bytes from an address to the end of its extent, or of the records that this writer has for
  /// it. Returns nil if the address is not in an extent of the file.
  func withBytes<Result>(
    at address: RecordAddress, in values: borrowing some ExtentValues & ~Copyable & ~Escapable,
    _ body: (RawSpan) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result? {
    guard case .inExtent(let extent, let offset)? = address.location(in: layout), offset >= ExtentLayout.headerSize
    else {
      return nil
    }
    for buffer in buffers.values where buffer.has(offset, of: extent) {
      return try body(buffer.bytes.rawSpan.extracting(offset - buffer.start..<buffer.bytes.count))
    }
    return try values.withBytes(of: extent, from: offset, body)
  }

  /// Writes the records of a stream with zeros up to the end of their last page.
  ///
  /// A later transaction can begin at the next page. The zeros then end the list of records in this page.
  private mutating func write(
    _ stream: Extent.Stream, to values: inout some ExtentValues & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    guard var buffer = buffers.removeValue(forKey: stream) else { return }
    let end = buffer.start + buffer.bytes.count
    let padded = min((end + pageSize - 1) / pageSize * pageSize, layout.size)
    buffer.bytes.append(addingCapacity: padded - end) { $0.append(repeating: 0, count: padded - end) }
    try values.write(buffer.bytes.rawSpan, at: buffer.start, in: buffer.extent)
    writtenBytes += buffer.bytes.count
  }
}
