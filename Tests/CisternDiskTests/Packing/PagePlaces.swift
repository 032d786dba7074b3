import LMDB

@testable import CisternDisk

/// The pages of values in a file, as LMDB gives them: the lowest that are free and in a row.
struct PagePlaces: Equatable {
  private struct Freed: Equatable {
    let pages: Range<Int>
    let transaction: TransactionNumber
  }

  /// The pages of trees, which have fixed places.
  private static let treePages = 64

  private let pageCount: Int
  private(set) var occupied: [ExtentRow.Key: Range<Int>] = [:]
  /// The pages that the last transactions freed.
  private var freed: [Freed] = []

  init(pageCount: Int) { self.pageCount = pageCount }

  mutating func add(_ key: ExtentRow.Key, _ count: Int, during current: TransactionNumber) throws(LMDBError) {
    // LMDB uses a page again two transactions after it was freed.
    freed.removeAll { $0.transaction.number + 2 <= current.number }
    var start = Self.treePages
    for taken in (occupied.values + freed.map(\.pages)).sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if taken.lowerBound >= start + count { break }
      start = max(start, taken.upperBound)
    }
    guard start + count <= pageCount else {
      throw LMDBError(.mapFull, operation: "put", message: "the map has no \(count) pages in a row")
    }
    occupied[key] = start..<start + count
  }

  mutating func remove(_ key: ExtentRow.Key, during current: TransactionNumber) {
    guard let pages = occupied.removeValue(forKey: key) else { return }
    freed.append(Freed(pages: pages, transaction: current))
  }

  /// The end of the last page that has been in use.
  var end: Int { (occupied.values.map(\.upperBound) + [Self.treePages]).max() ?? 0 }

  var uses: PageUses {
    let taken = Set(occupied.values.joined())
    let free = PageUses.FreeList(
      transaction: 0, pages: (Self.treePages..<pageCount).filter { !taken.contains($0) }.reversed())
    return PageUses(lastPage: pageCount - 1, freeLists: [free])
  }
}

extension MemoryTarget {
  /// Makes values need pages in a row from now on. The file must be empty.
  mutating func usePages() {
    tables.places = PagePlaces(pageCount: limits.pageCount)
    commit()
  }
}
