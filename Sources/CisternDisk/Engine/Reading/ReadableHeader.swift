import CisternCore

/// The fields of a record in either layout, as far as a reader needs them.
protocol ReadableHeader {
  /// The range of the value in the record.
  var value: Range<Int> { get }

  /// Returns the metadata of the record that has this header.
  func metadata(of record: RawSpan) -> RecordMetadata
}
