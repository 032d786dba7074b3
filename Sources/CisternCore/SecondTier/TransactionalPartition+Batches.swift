extension TransactionalPartition {
  /// Checks that the tier can hold a batch in one commit, and each of its writes at all.
  ///
  /// - Parameters:
  ///   - sizes: The sizes of the writes, in bytes.
  ///   - location: The operation or the cache.
  /// - Throws: `CisternError` with the code ``CisternError/Code/tooLarge``, which names the limit.
  @usableFromInline
  func checkBatch(of sizes: [Int], location: @autoclosure () -> String) throws(CisternError) {
    if let size = sizes.first(where: { !canHold(batchBytes: $0, count: 1) }) {
      let limit = largestWrite.map { ": with its key and tags, it may fill an eighth of the file, here \($0)" } ?? ""
      throw CisternError(
        .tooLarge,
        "a write of \(ByteCount.bytes(size)) in the batch is more than the second tier can hold\(limit); nothing of the batch was stored",
        location: location(), remedy: "Leave the value out, or raise the store's disk limit")
    }
    let size = sizes.reduce(0, +)
    guard !canHold(batchBytes: size, count: sizes.count) else { return }
    let limit =
      largestBatch.map { ": with the file's data about each write, it may fill a quarter of the file, here \($0)" }
      ?? ""
    throw CisternError(
      .tooLarge,
      "a batch of \(sizes.count) writes and \(ByteCount.bytes(size)) is more than one commit can hold\(limit); nothing of it was stored",
      location: location(), remedy: "Divide the batch, or raise the store's disk limit")
  }
}
