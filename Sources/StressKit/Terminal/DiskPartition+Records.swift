import Cistern
import CisternDisk

/// The records of a cache, for commands that must not overlook a damaged one.
extension DiskPartition {
  /// Returns a copy of the record of a key, or nil if the key has no record or a damaged one.
  func record(forKey key: [UInt8]) -> (metadata: RecordMetadata, bytes: [UInt8])? {
    withRecord(forKey: key.rawSpan) { metadata, bytes in (metadata, bytes.copiedBytes()) }
  }

  /// The number of damaged records that the reads of this command have found.
  var damagedCount: Int { statistics.damaged }

  /// Calls `body` with each record until it returns false.
  ///
  /// - Throws: `CommandFailure` if the file cannot be read to the end, and the errors of `body`.
  func visitRecords(_ body: (_ key: RawSpan, RecordMetadata, _ size: Int) throws -> Bool) throws {
    guard try listRecords(body) else {
      throw CommandFailure(
        "the data file cannot be read to the end; `cistern verify` prints its damage", status: .badInput)
    }
  }
}
