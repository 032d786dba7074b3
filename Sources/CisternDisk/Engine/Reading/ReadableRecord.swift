import CisternCore

/// The fields of a record in either layout, as far as a reader needs them.
protocol ReadableHeader {
  /// The range of the value in the record.
  var value: Range<Int> { get }

  /// Returns the metadata of the record that has this header.
  func metadata(of record: RawSpan) -> RecordMetadata
}

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
