extension RecordHeader: ReadableHeader {}
extension PackedHeader: ReadableHeader {}

/// A record of the file with a correct checksum.
struct ReadableRecord<Header: ReadableHeader>: ~Escapable {
  let header: Header
  let bytes: RawSpan
  /// The number of the recency mark.
  let mark: SequenceNumber

  @_lifetime(copy bytes)
  @inline(__always)
  init(_ header: Header, of bytes: RawSpan, mark: SequenceNumber) {
    self.header = header
    self.bytes = bytes
    self.mark = mark
  }
}
