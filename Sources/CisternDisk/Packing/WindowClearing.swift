/// The clearing of pages in a row for a large record, over several transactions.
///
/// The extents in the window are emptied one after the other, and held until all of them are free. If they were
/// released one by one, other tables would take their pages.
struct WindowClearing: Sendable, Equatable {
  let window: Range<Int>
  /// The extents in the window. Records of another process can still come into them.
  let extents: [ExtentNumber]
  /// The extents in the low pages. They are released as soon as they are free.
  let lowExtents: [ExtentNumber]
  /// The separate records in the window and in the low pages.
  let separates: [SeparateNumber]
  /// The number of transactions that have moved trees out of the emptied window.
  private(set) var preparations = 0

  init(_ window: OccupiedPages.Window, of occupied: OccupiedPages) {
    self.window = window.pages
    let (extents, separates) = Self.values(in: window.pages, of: occupied)
    let (lowExtents, lowSeparates) = Self.values(in: window.low, of: occupied)
    self.extents = extents
    self.lowExtents = lowExtents.filter { !extents.contains($0) }
    self.separates = separates + lowSeparates.filter { !separates.contains($0) }
  }

  private static func values(
    in pages: Range<Int>, of occupied: OccupiedPages
  ) -> (extents: [ExtentNumber], separates: [SeparateNumber]) {
    var extents: [ExtentNumber] = []
    var separates: [SeparateNumber] = []
    for content in occupied.contents(of: pages) {
      switch content {
      case .extent(let number): extents.append(number)
      case .separate(let number): separates.append(number)
      case .items, .other: break
      }
    }
    return (extents, separates)
  }

  /// The number of transactions that move trees at most. The window is then released as it is.
  private static let mostPreparations = 6

  /// Returns whether a further transaction moves trees out of the emptied window before the window is released. Counts
  /// it.
  mutating func beginPreparation() -> Bool {
    guard preparations < Self.mostPreparations else { return false }
    preparations += 1
    return true
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
