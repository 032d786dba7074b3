import CisternCore
import LMDB

extension RecordFormat {
  /// Writes the checksum. All other bytes of the record must be final.
  @_lifetime(record: copy record)
  package static func seal(_ record: inout MutableRawSpan, under key: RawSpan) {
    let sum = checksum(of: record.bytes, under: key)
    record.storeBytes(of: sum.littleEndian, toByteOffset: 0, as: UInt64.self)
  }

  /// Writes the checksum. All other bytes of the record must be final.
  @_lifetime(record: copy record)
  package static func seal(_ record: inout MutableRawSpan, under key: borrowing DiskKey) {
    let bytes = key.copiedBytes()
    seal(&record, under: bytes.rawSpan)
  }

  /// Replaces the sequence number of an encoded record, and updates its checksum.
  @_lifetime(record: copy record)
  package static func renumber(_ record: inout MutableRawSpan, sequence: SequenceNumber, under key: borrowing DiskKey) {
    record.storeBytes(of: sequence.number.littleEndian, toByteOffset: sequenceOffset, as: UInt64.self)
    seal(&record, under: key)
  }
}
