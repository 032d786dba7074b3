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
    let occupied = OccupiedPages(pageCount: pageCount, fileEnd: fileEnd, runs: runs.shuffled(using: &generator))
    for count in 1...24 {
      let costs = (2..<max(pageCount - count + 1, 2)).compactMap { start -> Int? in
        let window = start..<start + count
        if window.lowerBound < fileEnd, window.upperBound > fileEnd { return nil }
        let costs = runs.filter { $0.pages.overlaps(window) }.map(\.cost)
        return costs.contains(nil) ? nil : costs.reduce(0) { $0 + ($1 ?? 0) }
      }
      let window = occupied.cheapestWindow(of: count)
      #expect((window == nil) == costs.isEmpty)
      guard let window else { continue }
      #expect(window.count == count && window.lowerBound >= 2 && window.upperBound <= pageCount)
      #expect(window.upperBound <= fileEnd || window.lowerBound >= fileEnd)
      let cost = runs.filter { $0.pages.overlaps(window) }.reduce(0) { $0 + ($1.cost ?? .max / 100) }
      #expect(cost == costs.min())
    }
  }

  @Test func `of equal windows, the last one is chosen`() {
    let runs = [run(5..<10, cost: 3), run(20..<25, cost: 3), run(30..<35, cost: 4)]
    let occupied = OccupiedPages(pageCount: 35, fileEnd: 35, runs: runs)
    #expect(occupied.cheapestWindow(of: 4) == 25..<29)
    #expect(occupied.cheapestWindow(of: 12) == 10..<22)
    #expect(occupied.contents(of: 10..<22).count == 1)
  }

  @Test func `a value has no pages on both sides of the end of the file`() {
    let occupied = OccupiedPages(pageCount: 30, fileEnd: 20, runs: [run(2..<12, cost: 1)])
    #expect(occupied.cheapestWindow(of: 8) == 20..<28)
    #expect(occupied.cheapestWindow(of: 10) == 20..<30)
    #expect(occupied.cheapestWindow(of: 11) == 2..<13)
    #expect(occupied.cheapestWindow(of: 19) == nil)
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
