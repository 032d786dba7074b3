import CisternCore

/// The pages of a file that are not free, and the costs of emptying them.
///
/// A large value needs free pages in a row. Evictions by age free pages all over the file, so most records can leave
/// before enough of these pages follow each other. Emptying a window of pages costs only the records in it.
struct OccupiedPages: Sendable {
  enum Content: Sendable, Equatable {
    case extent(ExtentNumber)
    case separate(SeparateNumber)
    /// A page of the index. LMDB moves it when the first item from this digest on is replaced.
    case items(RecordDigest, of: Generation)
    /// A page of another tree. Most commits move it.
    case other
  }

  /// Pages in a row that become free together.
  struct Run: Sendable, Equatable {
    let pages: Range<Int>
    let content: Content
    /// The cost of emptying the pages, or nil if they must stay.
    let cost: Int?
  }

  /// The number of LMDB's meta pages, with which the file begins. They never move.
  static let metaPageCount = 2

  /// The number of pages of the map.
  let pageCount: Int
  /// The number of pages that the file has. LMDB gives no value pages on both sides of this place.
  let fileEnd: Int
  /// A cost above that of all values in a window, besides those that leave last.
  let highestCost: Int
  /// The runs in the order of their pages.
  let runs: [Run]

  init(pageCount: Int, fileEnd: Int, highestCost: Int = .max, runs: [Run]) {
    self.pageCount = pageCount
    self.fileEnd = fileEnd
    self.highestCost = highestCost
    self.runs = runs.sorted { $0.pages.lowerBound < $1.pages.lowerBound }
  }

  /// Pages in a row for a large record.
  struct Window: Sendable, Equatable {
    let pages: Range<Int>
    /// The pages below that are emptied first, for the trees. Empty if the file has enough free pages below the window.
    let low: Range<Int>

    init(_ pages: Range<Int>, low: Range<Int> = 0..<0) {
      self.pages = pages
      self.low = low
    }
  }

  /// Returns the window that costs least to empty. Nil if pages that must stay are in each window.
  ///
  /// Of equal windows, the last one is chosen. O(n log n) for n runs.
  func cheapestWindow(of count: Int) -> Window? {
    let low = LowPages.wanted
    var best: (window: Window, cost: Int)?
    if let (start, cost) = cheapest(count, behind: low) { best = (Window(start..<start + count), cost) }
    if let (start, cost) = cheapest(count + low, behind: 0), best.map({ cost < $0.cost }) ?? true {
      best = (Window(start + low..<start + low + count, low: start..<start + low), cost)
    }
    if let best, best.cost < highestCost { return best.window }
    // Free pages below the window are not worth a value that leaves last.
    guard let (start, cost) = cheapest(count, behind: 0), best.map({ cost < $0.cost }) ?? true else {
      return best?.window
    }
    let pages = start..<start + count
    guard let others = cheapest(low, behind: 0, before: start), others.cost < highestCost else { return Window(pages) }
    return Window(pages, low: others.start..<others.start + low)
  }

  /// Returns the first page and the cost of the cheapest pages in a row that have so many free pages below them.
  private func cheapest(
    _ count: Int, behind freePages: Int, before end: Int = .max
  ) -> (start: Int, cost: Int)? {
    var best: (start: Int, cost: Int)?
    var (first, last) = (0, 0)
    var (cost, fixed) = (0, 0)
    var usedBelow = Self.metaPageCount
    for start in starts(of: count, before: end) {
      while last < runs.count, runs[last].pages.lowerBound < start + count {
        cost += runs[last].cost ?? 0
        fixed += runs[last].cost == nil ? 1 : 0
        last += 1
      }
      while first < last, runs[first].pages.upperBound <= start {
        cost -= runs[first].cost ?? 0
        fixed -= runs[first].cost == nil ? 1 : 0
        usedBelow += runs[first].pages.count
        first += 1
      }
      let usedInFirst = first < last ? max(start - runs[first].pages.lowerBound, 0) : 0
      guard fixed == 0, start - usedBelow - usedInFirst >= freePages else { continue }
      if best.map({ cost <= $0.cost }) ?? true { best = (start, cost) }
    }
    return best
  }

  /// The first pages of the candidates for pages in a row, in ascending order.
  ///
  /// A move up to the next of these places adds no run, and can add free pages below.
  private func starts(of count: Int, before end: Int) -> [Int] {
    let ends = runs.map(\.pages.lowerBound).filter { $0 < end } + [min(fileEnd, end), min(pageCount, end)]
    return Set(ends.map { $0 - count }).filter { start in
      start >= Self.metaPageCount && start + count <= pageCount && (start >= fileEnd || start + count <= fileEnd)
    }.sorted()
  }

  /// The pages of trees in a window.
  func treePages(in window: Range<Int>) -> Set<Int> {
    Set(
      runs.lazy.filter { run in
        switch run.content {
        case .items, .other: run.pages.overlaps(window)
        case .extent, .separate: false
        }
      }.map(\.pages.lowerBound))
  }

  /// Returns the contents of all runs that have pages of a window.
  func contents(of window: Range<Int>) -> [Content] {
    runs.filter { $0.pages.overlaps(window) }.map(\.content)
  }
}
