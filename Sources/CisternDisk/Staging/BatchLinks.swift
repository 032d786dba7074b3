import CisternCore

/// The batches that must be committed together.
///
/// A batch joins another one when one of its writes replaces a staged write of the other. From then on, neither can
/// be committed without the other.
struct BatchLinks: Sendable {
  private var parents: [BatchNumber: BatchNumber] = [:]

  /// Joins two batches.
  mutating func join(_ one: BatchNumber, _ other: BatchNumber) {
    let (first, second) = (root(of: one), root(of: other))
    if first != second { parents[max(first, second)] = min(first, second) }
  }

  /// Joins the batches that are joined in `other`, which has the links of another partition.
  mutating func join(_ other: BatchLinks) {
    for (batch, parent) in other.parents { join(batch, parent) }
  }

  /// Returns the number that represents a batch and all batches that are joined with it.
  func root(of batch: BatchNumber) -> BatchNumber {
    var batch = batch
    while let parent = parents[batch] { batch = parent }
    return batch
  }
}
