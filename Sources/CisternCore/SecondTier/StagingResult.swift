/// The result of staging a write.
public enum StagingResult: Sendable {
  /// The write is staged. Reads return it, and the tier will commit it.
  case staged(CommitTicket)
  /// The tier does not take the write. Reads take the key as absent.
  ///
  /// The record is too large, an invalidation already covers it, or the tier is read-only, failing, or closed.
  case refused
}
