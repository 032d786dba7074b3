/// The result of staging a write.
public enum StagingResult: Sendable {
  /// The write is staged. Reads return it, and the tier will commit it.
  case staged(CommitTicket)
  /// The tier does not take the write. Reads take the key as absent.
  ///
  /// The record is too large, an invalidation already covers it, or the tier is read-only, failing, or closed. A
  /// refusal by a custom tier in the mode ``SecondTierStatistics/Mode-swift.enum/active`` means that the record is too
  /// large. The cache then sends a ``StoreReport``, and a caller that waits receives ``CisternError/Code/tooLarge``.
  case refused
}
