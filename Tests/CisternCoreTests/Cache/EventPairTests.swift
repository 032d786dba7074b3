import CisternCore
import CisternTesting
import CisternTestSupport
import Locking
import Testing

/// Applies every two events to a key concurrently, in every state of the key. Callers observe a register that may
/// forget, observers receive the events, and nothing is left over.
struct EventPairTests {
  private struct Case {
    let state: KeyState
    let first: KeyEvent
    let second: KeyEvent
  }

  private static let cases = KeyState.allCases.flatMap { state in
    KeyEvent.allCases.flatMap { first in KeyEvent.allCases.map { Case(state: state, first: first, second: $0) } }
  }

  @Test(arguments: SubjectKind.caches)
  func `two concurrent events in any state of a key act like sequential ones`(
    kind: SubjectKind
  ) throws {
    let covered = Guarded<Set<Int>>([])
    try SeededSchedule.explore(seeds: Self.cases.count) { executor in
      let number = Int(executor.seed % UInt64(Self.cases.count))
      let this = Self.cases[number]
      let key = try KeyUnderTest(kind, on: executor)
      let token = key.subject.cache.observe { key.audit.take($0) }
      await key.enter(this.state)
      let tasks = [this.first, this.second].enumerated().map { index, event in
        Task(executorPreference: executor) {
          var generator = SeededGenerator(seed: executor.seed &* 2 &+ UInt64(index))
          await pause(&generator, atMost: 4)
          await key.happen(event, &generator)
        }
      }
      for task in tasks { await task.value }
      let findings = await key.findings()
      try #require(findings == [], "\(this.first) and \(this.second) of a key that was \(this.state)")
      token.cancel()
      _ = covered.withLock { $0.insert(number) }
    }
    let pairs = covered.withLock { $0.count }
    print(
      "pairs of events on seeded schedules, \(kind): \(pairs) of \(Self.cases.count), in \(KeyState.allCases.count) states"
    )
    if SeededSchedule.seeds(Self.cases.count).count >= Self.cases.count { #expect(pairs == Self.cases.count) }
  }
}
