extension TransactionalPartition {
  /// Checks that the tier can hold a batch in one commit, and each of its writes at all.
  ///
  /// - Parameters:
  ///   - writes: The writes.
  ///   - location: The operation or the cache.
  /// - Throws: `CisternError` with the code ``CisternError/Code/tooLarge``, which names the limit.
  @usableFromInline
  func checkBatch(of writes: [StagedWrite], location: @autoclosure () -> String) throws(CisternError) {
    if let write = writes.first(where: { !canHold($0) }) { throw tooLarge(write, location: location()) }
    let size = writes.reduce(0) { $0 + $1.stagedSize }
    guard !canHold(batchBytes: size, count: writes.count) else { return }
    let limit =
      largestBatch.map { ": with the file's data about each write, it may fill a quarter of the file, here \($0)" }
      ?? ""
    throw CisternError(
      .tooLarge,
      "a batch of \(writes.count) writes and \(ByteCount.bytes(size)) is more than one commit can hold\(limit); nothing of it was stored",
      location: location(), remedy: "Divide the batch, or raise the store's disk limit")
  }

  /// Returns the error of a batch with a write that the tier can never hold.
  private func tooLarge(_ write: StagedWrite, location: String) -> CisternError {
    if canHold(batchBytes: write.stagedSize, count: 1), case .record(_, let metadata, _) = write {
      return CisternError(
        .tooLarge,
        "a write in the batch has \(metadata.tags.count) tags, which is more than the second tier can hold; nothing of the batch was stored",
        location: location, remedy: "Give the value fewer tags")
    }
    let limit = largestWrite.map { ": with its key and tags, it may fill an eighth of the file, here \($0)" } ?? ""
    return CisternError(
      .tooLarge,
      "a write of \(ByteCount.bytes(write.stagedSize)) in the batch is more than the second tier can hold\(limit); nothing of the batch was stored",
      location: location, remedy: "Leave the value out, or raise the store's disk limit")
  }
}
