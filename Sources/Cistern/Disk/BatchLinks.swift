/// Which batches have become one: a write of one has taken the place of another's, and neither can be committed without
/// the other any more.
struct BatchLinks: Sendable {
  private var parents: [UInt64: UInt64] = [:]

  var isEmpty: Bool { parents.isEmpty }

  /// Makes two batches one.
  mutating func join(_ one: UInt64, _ other: UInt64) {
    let (first, second) = (root(of: one), root(of: other))
    if first != second { parents[max(first, second)] = min(first, second) }
  }

  /// The number that stands for a batch and all that are one with it.
  func root(of batch: UInt64) -> UInt64 {
    var batch = batch
    while let parent = parents[batch] { batch = parent }
    return batch
  }
}
