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
    let largest: Int
    do {
      largest = try DiskTier.largestRecord(limit: limit, in: directory)
    } catch {
      throw CommandFailure(error)
    }
    guard bytes > largest else { return }
    throw CommandFailure(
      """
      \(subject) is too large: it has \(Formatting.count(bytes)) bytes with its key, but a store with a limit of \
      \(limit) holds records of at most \(Formatting.count(largest)) bytes; nothing was stored
      """, status: .badInput)
  }
}
