extension CisternError {
  /// Returns the error for a batch that one commit cannot hold.
  ///
  /// - Parameters:
  ///   - count: The number of writes.
  ///   - size: Their size in the second tier, in bytes.
  ///   - largest: The size of the largest batch, if the tier knows it.
  ///   - location: The operation or the cache.
  /// - Returns: The error.
  static func batchTooLarge(count: Int, size: Int, largest: ByteCount?, location: String) -> CisternError {
    let limit =
      largest.map { ": with the file's data about each write, it may fill a quarter of the file, here \($0)" } ?? ""
    return CisternError(
      .tooLarge,
      "a batch of \(count) writes and \(ByteCount.bytes(size)) is more than one commit can hold\(limit); nothing of it was stored",
      location: location, remedy: "Divide the batch, or raise the store's disk limit")
  }
}
