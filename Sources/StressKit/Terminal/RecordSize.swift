import Cistern
import CisternDisk

/// The size of a record that a command is about to store.
struct RecordSize {
  /// The subject of the error message: "the value", or a line of a file.
  let subject: String
  /// The size in bytes, as ``DiskTier/recordSize(key:_:bytes:)`` returns it.
  let bytes: Int

  /// Throws if a store with this limit can never hold the record.
  ///
  /// A store that refuses a write also removes the key's older record. Therefore, a command makes this check before
  /// the write.
  func check(limit: ByteCount, in directory: String) throws {
    let largest = try RecordSize.largest(limit: limit, in: directory)
    guard bytes > largest else { return }
    throw RecordSize.refusal(
      subject, "\(Formatting.count(bytes)) bytes with its key", limit: limit, largest: largest)
  }

  /// Returns the size of the largest record that a store with this limit can hold, in bytes.
  static func largest(limit: ByteCount, in directory: String) throws -> Int {
    do {
      return try DiskTier.largestRecord(limit: limit, in: directory)
    } catch {
      throw CommandFailure(error)
    }
  }

  static func refusal(_ subject: String, _ size: String, limit: ByteCount, largest: Int) -> CommandFailure {
    CommandFailure(
      """
      \(subject) is too large: it has \(size), but a store with a limit of \(limit) holds records of at most \
      \(Formatting.count(largest)) bytes; nothing was stored
      """, status: .badInput)
  }
}
