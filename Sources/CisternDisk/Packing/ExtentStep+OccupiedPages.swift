import CisternCore
import LMDB

extension ExtentStep {
  /// Returns the pages in use as of the last commit, with the costs of emptying them. Nil if they are unknown.
  ///
  /// - Parameters:
  ///   - count: The number of pages in a row that are wanted.
  ///   - target: The transaction.
  /// - Returns: The pages.
  /// - Throws: `LMDBError` if LMDB fails.
  func occupiedPages(
    forWindowOf count: Int, in target: borrowing some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> OccupiedPages? {
    guard let uses = try target.committedPageUses(of: Array(state.partitionNumbers.named)) else { return nil }
    let limits = context.limits
    let costs = evictionCosts
    var runs: [OccupiedPages.Run] = []
    func add(_ first: Int, _ pages: Int, _ content: OccupiedPages.Content, cost: Int?) {
      runs.append(OccupiedPages.Run(pages: first..<first + pages, content: content, cost: cost))
    }
    let highestCost = EvictionCost.highest(inWindowOf: (count + LowPages.wanted) * limits.pageSize)
    // Copies from the window need a free extent outside of it.
    let policy = ReclaimPolicy(meanRecordSize: state.experience.meanRecordSize)
    let free = policy.gainsByCleaning(in: state.log) ? state.log.newestFree : nil
    for (number, extent) in state.log.all {
      guard let first = try target.committedPage(of: ExtentRow.Key(number)) else { continue }
      let costOfFree = number == free ? highestCost : 0
      let cost = extent.isFree ? costOfFree : costs.cost(of: extent.liveBytes, age: extent.age)
      add(first, limits.pagesPerExtent, .extent(number), cost: appended.contains(number) ? nil : cost)
    }
    let costsOfNew = state.newSeparates.costs(from: highestCost)
    for (number, record) in state.separates.records {
      guard let first = try target.committedPage(of: ExtentRow.Key(number)) else { continue }
      let isUsed = context.recency.isMarked(RecordAddress(separate: number.number).mark)
      let cost = costsOfNew[number] ?? costs.cost(of: record.size, age: record.age, isUsed: isUsed)
      add(
        first, limits.pages(ofSeparate: record.size), .separate(number),
        cost: appendedSeparates.contains(number) ? nil : cost)
    }
    let immovable = state.experience.treePagesInWindow
    for item in uses.items {
      let digest = RecordDigest(lowBits: item.digest)
      // LMDB copies the page and frees it.
      let cost = immovable.contains(item.page) ? highestCost : 2 * limits.pageSize
      add(item.page, 1, .items(digest, of: Generation(number: item.key.number)), cost: cost)
    }
    // Such a page can stay, so evictions of old records are better.
    let costOfOthers = count * limits.pageSize
    for page in Self.otherPages(uses, runs) {
      add(page, 1, .other, cost: immovable.contains(page) ? highestCost : costOfOthers)
    }
    return OccupiedPages(pageCount: limits.pageCount, fileEnd: uses.lastPage + 1, highestCost: highestCost, runs: runs)
  }

  private var evictionCosts: EvictionCost {
    let extents = state.log.all.filter { !$0.extent.isFree }.map { (age: $0.extent.age, bytes: $0.extent.liveBytes) }
    return EvictionCost(extents + state.separates.records.values.map { ($0.age, $0.size) })
  }

  /// Returns the pages that are neither free nor in one of the runs.
  private static func otherPages(_ uses: PageUses, _ runs: [OccupiedPages.Run]) -> [Int] {
    var isKnown = [Bool](repeating: false, count: uses.lastPage + 1)
    for page in uses.free { isKnown[page] = true }
    for run in runs { for page in run.pages.clamped(to: isKnown.indices) { isKnown[page] = true } }
    return isKnown.indices.dropFirst(OccupiedPages.metaPageCount).filter { !isKnown[$0] }
  }
}
