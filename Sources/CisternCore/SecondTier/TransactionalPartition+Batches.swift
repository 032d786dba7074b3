extension TransactionalPartition {
  /// Checks that the tier can hold a batch in one commit, and each of its writes at all.
  ///
  /// - Parameters:
  ///   - writes: The writes.
  ///   - location: The operation or the cache.
  /// - Throws: `CisternError` with the code ``CisternError/Code/tooLarge``, which names the limit.
  @usableFromInline
  func checkBatch(of writes: [StagedWrite], location: @autoclosure () -> String) throws(CisternError) {
    for write in writes {
      if let excess = excess(of: write) { throw tooLarge(write, excess, location: location()) }
    }
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
  private func tooLarge(_ write: StagedWrite, _ excess: WriteExcess, location: String) -> CisternError {
    let problem: String
    if case .tags = excess, case .record(_, let metadata, _) = write {
      problem = "a write in the batch has \(metadata.tags.count) tags, which is more than the second tier can hold"
    } else {
      let limit = largestWrite.map { ": with its key and tags, it may fill an eighth of the file, here \($0)" } ?? ""
      problem =
        "a write of \(ByteCount.bytes(write.stagedSize)) in the batch is more than the second tier can hold\(limit)"
    }
    return CisternError(
      .tooLarge, "\(problem); nothing of the batch was stored", location: location, remedy: excess.remedy)
  }
}
