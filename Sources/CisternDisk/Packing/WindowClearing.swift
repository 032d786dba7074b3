/// The clearing of pages in a row for a large record, over several transactions.
///
/// The extents in the window are emptied one after the other, and held until all of them are free. If they were released one by
/// one, other tables would take their pages.
struct WindowClearing: Sendable, Equatable {
  let window: Range<Int>
  /// The extents in the window. Records of another process can still come into them.
  let extents: [ExtentNumber]
  /// The separate records in the window.
  let separates: [SeparateNumber]

  init(_ window: Range<Int>, of occupied: OccupiedPages) {
    self.window = window
    var extents: [ExtentNumber] = []
    var separates: [SeparateNumber] = []
    for content in occupied.contents(of: window) {
      switch content {
      case .extent(let number): extents.append(number)
      case .separate(let number): separates.append(number)
      case .items, .other: break
      }
    }
    (self.extents, self.separates) = (extents, separates)
  }

  /// The progress of a clearing.
  enum Progress {
    /// The transaction has used up its budget, or a copy waits for a commit or a reader.
    case unfinished
    /// The pages are released. LMDB can use them after further commits.
    case finished
    /// No window can be cleared.
    case impossible
  }
}
