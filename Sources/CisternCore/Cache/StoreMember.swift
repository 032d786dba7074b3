/// A cache from its store's point of view.
package protocol StoreMember: AnyObject, Sendable {
  /// The counts and the contents of the cache.
  var statistics: CacheStatistics { get }
  /// Checks the whole cache. Returns the violated invariants; a sound cache has none.
  func checkInvariants() -> [String]
  /// Handles records that the cache's partition lost. The tier calls it outside all locks and transactions.
  func handleRecordLosses(_ losses: [RecordLoss])
  /// Removes all values with a tag from memory, and stages their removal in the second tier. Runs no code of the user,
  /// except a key's.
  ///
  /// - Parameters:
  ///   - tag: The tag, which must not be empty.
  ///   - context: The writer, for ``Change/context``.
  ///   - batch: The removal from several partitions that this is a part of, or nil if each has its own commit.
  /// - Returns: The results that the caller finishes outside the locks.
  func stageRemoval(tagged tag: String, context: WriterContext?, in batch: BatchToken?) -> StagedRemoval
}
