import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

/// Many invalidations during a fetch that does not end.
struct HungFetchTests {
  private static let count = 3_000

  @Test(arguments: SubjectKind.caches, [true, false])
  func `a hung fetch is stored after many invalidations of other keys, but not after one of its own`(
    kind: SubjectKind, isTag: Bool
  ) throws {
    for isConcerned in [false, true] {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try Subject(kind, on: executor)
        let cache = subject.cache
        for number in 0..<50 { cache.setValue(number, forKey: "held/\(number)", tags: ["held"]) }
        let gate = Gate()
        let load = Task(executorPreference: executor) {
          try await cache.value(forKey: "hung/1", tags: ["hung"]) { _ in
            await gate.passUncancelled()
            return 1
          }
        }
        await gate.arrivals(atLeast: 1)
        for number in 0..<Self.count {
          if isTag { cache.removeAll(tagged: "tag\(number)") } else { cache.removeAll(withPrefix: "other/\(number)/") }
          if number % 100 == 0 { await Task.yield() }
        }
        if isConcerned {
          if isTag { cache.removeAll(tagged: "hung") } else { cache.removeAll(withPrefix: "hung/") }
        }
        for _ in 0..<100 { await Task.yield() }
        for number in 0..<50 { try #require(cache["held/\(number)"] == number) }
        try #require(!isConcerned || cache["hung/1"] == nil)
        gate.open()
        try #require(try await load.value == 1)
        try #require(cache["hung/1"] == (isConcerned ? nil : 1))
        // The last invalidation leaves no older value or flight.
        cache.removeAll(tagged: "last")
        for _ in 0..<100 { await Task.yield() }
        try #require(cache.pendingInvalidationCount == 0)
        try #require(subject.findings == [])
      }
    }
  }
}
