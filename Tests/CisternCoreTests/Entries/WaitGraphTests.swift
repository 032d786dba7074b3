import CisternTesting
import Testing

@testable import CisternCore

struct WaitGraphTests {
  @Test func `a wait is refused exactly if its target waits for the waiter, directly or indirectly`() {
    for seed in SeededSchedule.seeds(200) {
      var generator = SeededGenerator(seed: seed)
      var graph = WaitGraph<Int>()
      var waits: [(Int, Int)] = []
      /// Returns whether `start` reaches `end` by any path.
      func reaches(_ start: Int, _ end: Int) -> Bool {
        var reached: Set<Int> = [start]
        for _ in 0..<6 { for (from, to) in waits where reached.contains(from) { reached.insert(to) } }
        return reached.contains(end)
      }
      for _ in 0..<60 {
        if generator.next(below: 3) == 0, !waits.isEmpty {
          let (from, to) = waits.remove(at: generator.next(below: waits.count))
          graph.remove(from, waitsFor: to)
        } else {
          let (from, to) = (generator.next(below: 6), generator.next(below: 6))
          let isRefused = reaches(to, from)
          #expect(graph.add(from, waitsFor: to) == !isRefused, "seed \(seed)")
          if !isRefused { waits.append((from, to)) }
        }
      }
      for (from, to) in waits { graph.remove(from, waitsFor: to) }
      #expect(graph.isEmpty)
    }
  }

  @Test func `a lent permit is returned exactly once, in any order of waits and returns`() {
    for seed in SeededSchedule.seeds(300) {
      var generator = SeededGenerator(seed: seed)
      var permit = FetchPermitState()
      var places = 1
      var waits = 0
      var entering = 0
      func check() { if !(0...1 ~= places) { Issue.record("seed \(seed): \(places) places") } }
      func enter(isAdmitted: Bool) {
        entering -= 1
        if isAdmitted { places += 1 }
        if permit.enter(isAdmitted: isAdmitted) == .release { places -= 1 }
        check()
      }
      for _ in 0..<30 {
        switch generator.next(below: 3) {
        case 0:
          if permit.beginWait() == .release { places -= 1 }
          waits += 1
        case 1 where waits > 0:
          waits -= 1
          if permit.endWait() == .request { entering += 1 }
        case 2 where entering > 0:
          enter(isAdmitted: generator.next(below: 4) > 0)
        default: break
        }
        check()
        // A waiting load has no permit.
        if waits > 0, places > 0 { Issue.record("seed \(seed): it waits while it has a permit") }
      }
      if permit.end() == .release { places -= 1 }
      while waits > 0 {
        waits -= 1
        if permit.endWait() == .request { entering += 1 }
      }
      while entering > 0 { enter(isAdmitted: true) }
      #expect(places == 0, "seed \(seed)")
    }
  }
}
