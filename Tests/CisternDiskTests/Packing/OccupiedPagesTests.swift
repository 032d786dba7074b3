import CisternTesting
import Testing

@testable import CisternDisk

/// The choice of pages in a row for a large record.
struct OccupiedPagesTests {
  private typealias Run = OccupiedPages.Run

  private func run(_ pages: Range<Int>, cost: Int?) -> Run { Run(pages: pages, content: .other, cost: cost) }

  @Test(arguments: 1...200 as ClosedRange<UInt64>)
  func `the window is the last of those that cost least`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let pageCount = Int.random(in: 20...80, using: &generator)
    let fileEnd = Int.random(in: 10...pageCount, using: &generator)
    var runs: [Run] = []
    var page = 2
    while page < fileEnd {
      let count = min(Int.random(in: 1...6, using: &generator), fileEnd - page)
      let cost = Int.random(in: 0..<12, using: &generator)
      if Bool.random(using: &generator) { runs.append(run(page..<page + count, cost: cost == 0 ? nil : cost)) }
      page += count
    }
    let highestCost = Int.random(in: 5...120, using: &generator)
    let occupied = OccupiedPages(
      pageCount: pageCount, fileEnd: fileEnd, highestCost: highestCost, runs: runs.shuffled(using: &generator))
    func cost(of pages: Range<Int>) -> Int? {
      if pages.lowerBound < fileEnd, pages.upperBound > fileEnd { return nil }
      let costs = runs.filter { $0.pages.overlaps(pages) }.map(\.cost)
      return costs.contains(nil) ? nil : costs.reduce(0) { $0 + ($1 ?? 0) }
    }
    func hasLowPages(_ pages: Range<Int>) -> Bool {
      (2..<pages.lowerBound).count { page in !runs.contains { $0.pages.contains(page) } } >= LowPages.wanted
    }
    for count in 1...24 {
      let all = (2..<max(pageCount - count + 1, 3)).map { $0..<$0 + count }.filter { $0.upperBound <= pageCount }
      let extended = all.map { $0.lowerBound - LowPages.wanted..<$0.upperBound }.filter { $0.lowerBound >= 2 }
      let best = (all.filter(hasLowPages) + extended).compactMap(cost).min()
      let withoutLow = all.compactMap(cost).min()
      let expected = best.map { $0 < highestCost } ?? false ? best : [best, withoutLow].compactMap(\.self).min()
      guard let window = occupied.cheapestWindow(of: count) else {
        #expect(expected == nil)
        continue
      }
      #expect(window.pages.count == count && [0, LowPages.wanted].contains(window.low.count))
      #expect(window.low.isEmpty || window.low.upperBound <= window.pages.lowerBound)
      if let best, best == expected {
        let isAdjacent = window.low.upperBound == window.pages.lowerBound
        #expect(isAdjacent || window.low.isEmpty && (hasLowPages(window.pages) || best == withoutLow))
        #expect(cost(of: isAdjacent ? window.low.lowerBound..<window.pages.upperBound : window.pages) == best)
      } else {
        #expect(cost(of: window.pages) == expected)
        #expect(window.low.isEmpty || cost(of: window.low) ?? .max < highestCost)
      }
    }
  }

  @Test func `of equal windows, the last one is chosen`() {
    let runs = [run(45..<50, cost: 3), run(60..<65, cost: 3), run(70..<75, cost: 4)]
    let occupied = OccupiedPages(pageCount: 75, fileEnd: 75, runs: runs)
    #expect(occupied.cheapestWindow(of: 4) == OccupiedPages.Window(66..<70))
    #expect(occupied.cheapestWindow(of: 12) == OccupiedPages.Window(58..<70))
    #expect(occupied.contents(of: 58..<70).count == 1)
  }

  @Test func `pages below the window are emptied, too, if few are free`() {
    let low = LowPages.wanted
    let runs = (0..<5).map { run(2 + $0 * 100..<102 + $0 * 100, cost: 10) } + [run(502..<503, cost: 1)]
    let full = OccupiedPages(pageCount: 503, fileEnd: 503, runs: runs)
    #expect(full.cheapestWindow(of: 60) == OccupiedPages.Window(442..<502, low: 442 - low..<442))
    // Two runs cost more than one, but the last one alone has no free pages below it.
    #expect(full.cheapestWindow(of: 90) == OccupiedPages.Window(412..<502, low: 412 - low..<412))
    let withFree = OccupiedPages(pageCount: 503, fileEnd: 503, runs: Array(runs.dropFirst()))
    #expect(withFree.cheapestWindow(of: 90) == OccupiedPages.Window(412..<502))
  }

  @Test func `a value that leaves last stays, although its pages are below the window`() {
    let low = LowPages.wanted
    let runs = [run(2..<60, cost: 7), run(60..<100, cost: 1000), run(100..<160, cost: 5), run(160..<200, cost: 1000)]
    let occupied = OccupiedPages(pageCount: 200, fileEnd: 200, highestCost: 1000, runs: runs)
    // Pages elsewhere below the window serve the trees as well.
    #expect(occupied.cheapestWindow(of: 40) == OccupiedPages.Window(120..<160, low: 60 - low..<60))
    #expect(occupied.cheapestWindow(of: 20) == OccupiedPages.Window(140..<160, low: 140 - low..<140))
    let withoutLow = OccupiedPages(
      pageCount: 200, fileEnd: 200, highestCost: 1000, runs: [run(2..<100, cost: 1000)] + runs.dropFirst(2))
    #expect(withoutLow.cheapestWindow(of: 40) == OccupiedPages.Window(120..<160))
  }

  @Test func `a value has no pages on both sides of the end of the file`() {
    let occupied = OccupiedPages(pageCount: 70, fileEnd: 60, runs: [run(2..<20, cost: 1)])
    #expect(occupied.cheapestWindow(of: 8) == OccupiedPages.Window(62..<70))
    #expect(occupied.cheapestWindow(of: 10) == OccupiedPages.Window(60..<70))
    #expect(occupied.cheapestWindow(of: 11) == OccupiedPages.Window(49..<60, low: 49 - LowPages.wanted..<49))
    #expect(occupied.cheapestWindow(of: 58) == OccupiedPages.Window(2..<60))
    #expect(occupied.cheapestWindow(of: 59) == nil)
  }

  @Test func `the newest value costs most, whether or not others were read`() {
    let costs = EvictionCost((1...10).map { (age: ExtentAge(number: $0), bytes: 1000) })
    let newest = costs.cost(of: 1000, age: ExtentAge(number: 10))
    for age in 1..<10 as Range<UInt64> {
      let cost = costs.cost(of: 1000, age: ExtentAge(number: age))
      let used = costs.cost(of: 1000, age: ExtentAge(number: age), isUsed: true)
      #expect(cost < costs.cost(of: 1000, age: ExtentAge(number: age + 1)))
      #expect(cost < used && used < newest)
    }
    // A value of no known age counts as new.
    #expect(costs.cost(of: 1000, age: ExtentAge(number: 20)) == newest)
  }
}
