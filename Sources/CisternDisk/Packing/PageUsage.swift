import LMDB

/// The pages that a file uses besides those of its extents.
struct PageUsage: Sendable, Equatable {
  /// The pages of the index.
  let index: Int
  /// The pages of separate records, of rows and of LMDB's own tables.
  let others: Int

  init(index: Int, others: Int) {
    self.index = index
    self.others = others
  }
}
