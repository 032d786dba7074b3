import Locking
import Testing

/// Real threads for ThreadSanitizer to observe.
struct GuardedThreadsTests {
  @Test func `state behind a lock is not a race`() async {
    final class Counter: Sendable {
      let state = Guarded((count: 0, list: [Int]()))
    }
    let counter = Counter()
    await withTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          for index in 0..<100_000 {
            counter.state.withLock { state in
              state.count += 1
              if state.list.count > 100 { state.list = [] }
              state.list.append(index)
            }
          }
        }
      }
    }
    #expect(counter.state.withLock { $0.count } == 400_000)
  }
}
