import CisternCore

/// The effect of staging a write.
struct StagingChange {
  let ticket: CommitTicket
  /// Whether the given write was staged, and not another write instead.
  let isStaged: Bool
  /// Whether the write joined two batches.
  let joinsBatches: Bool
  let addedBytes: Int
  let addedCount: Int
}
