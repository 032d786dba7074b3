/// The number of pages of each kind, and of entries, in a tree.
struct TreeTotals: Equatable {
  var branches: UInt64 = 0
  var leaves: UInt64 = 0
  /// The number of overflow pages.
  var overflows: UInt64 = 0
  var entries: UInt64 = 0
}
