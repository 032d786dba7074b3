import Cistern

/// The size of a record that a command is about to store.
struct RecordSize {
  /// The subject of a message: "the value", or a line of a file.
  let subject: String
  /// As ``DiskTier/recordSize(key:_:bytes:)`` counts.
  let bytes: Int

  /// Throws if a store with this limit can never hold the record. A store that refuses a write also removes the key's older
  /// record, so a command asks before it writes.
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
      \(subject) is too large: it takes \(Formatting.count(bytes)) bytes with its key, and a store with a limit of \(limit) \
      holds records of at most \(Formatting.count(largest)) bytes; nothing was stored
      """, status: .badInput)
  }
}
