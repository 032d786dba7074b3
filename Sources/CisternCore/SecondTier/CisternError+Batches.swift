extension CisternError {
  /// Returns the error for a batch that the second tier cannot hold in one commit, or of which it cannot hold one write at all.
  ///
  /// - Parameters:
  ///   - sizes: The sizes of the writes in the second tier, in bytes.
  ///   - partition: The partition, which refuses the batch.
  ///   - location: The operation or the cache.
  /// - Returns: The error.
  static func batchTooLarge(
    _ sizes: [Int], for partition: any TransactionalPartition, location: String
  ) -> CisternError {
    if let size = sizes.first(where: { !partition.canHold(batchBytes: $0, count: 1) }) {
      let limit =
        partition.largestWrite.map { ": with its key and tags, it may fill an eighth of the file, here \($0)" } ?? ""
      return CisternError(
        .tooLarge,
        "a write of \(ByteCount.bytes(size)) in the batch is more than the second tier can hold\(limit); nothing of the batch was stored",
        location: location, remedy: "Leave the value out, or raise the store's disk limit")
    }
    let size = sizes.reduce(0, +)
    let limit =
      partition.largestBatch.map {
        ": with the file's data about each write, it may fill a quarter of the file, here \($0)"
      } ?? ""
    return CisternError(
      .tooLarge,
      "a batch of \(sizes.count) writes and \(ByteCount.bytes(size)) is more than one commit can hold\(limit); nothing of it was stored",
      location: location, remedy: "Divide the batch, or raise the store's disk limit")
  }
}
