import CisternCore

/// The pages of a file that are not free, and the costs of emptying them.
///
/// A large value needs free pages in a row. Evictions by age free pages all over the file, so most records can leave before
/// enough of these pages follow each other. Emptying a window of pages costs only the records in it.
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
  /// The runs in the order of their pages.
  let runs: [Run]

  init(pageCount: Int, fileEnd: Int, runs: [Run]) {
    self.pageCount = pageCount
    self.fileEnd = fileEnd
    self.runs = runs.sorted { $0.pages.lowerBound < $1.pages.lowerBound }
  }

  /// Returns the pages in a row that cost least to empty. Nil if pages that must stay are in each window.
  ///
  /// Of equal windows, the last one is the best: LMDB gives low pages to its trees first. O(n) for n runs.
  func cheapestWindow(of count: Int) -> Range<Int>? {
    var best: (start: Int, cost: Int)?
    var (first, last) = (0, 0)
    var (cost, fixed) = (0, 0)
    // A cheapest window begins behind the meta pages, behind a run, or at the end of the file. A move down to the
    // next of these places adds no run.
    let lowest = Self.metaPageCount
    let starts = [lowest] + runs.map(\.pages.upperBound).filter { $0 < fileEnd } + [max(fileEnd, lowest)]
    for start in starts where start + count <= pageCount {
      while last < runs.count, runs[last].pages.lowerBound < start + count {
        cost += runs[last].cost ?? 0
        fixed += runs[last].cost == nil ? 1 : 0
        last += 1
      }
      while first < last, runs[first].pages.upperBound <= start {
        cost -= runs[first].cost ?? 0
        fixed -= runs[first].cost == nil ? 1 : 0
        first += 1
      }
      if start < fileEnd, start + count > fileEnd { continue }
      if fixed == 0, best.map({ cost <= $0.cost }) ?? true { best = (start, cost) }
    }
    return best.map { $0.start..<$0.start + count }
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
