import CisternTesting
import Testing

@testable import CisternCore

/// Tasks that another thread starts for the caller.
struct TaskStarterThreadsTests {
  @TaskLocal private static var mark = 0

  @Test
  func `each task started by another thread runs once, without the task-local values of its caller`()
    async
  {
    let runs = Recorder<Int>()
    let marks = Recorder<Int>()
    await Self.$mark.withValue(7) {
      await withTaskGroup { group in
        for number in 0..<100 {
          group.addTask {
            await withCheckedContinuation { continuation in
              TaskStarter.start(on: nil) {
                runs.record(number)
                marks.record(Self.mark)
                continuation.resume()
              }
            }
          }
        }
      }
    }
    #expect(runs.elements.sorted() == Array(0..<100))
    #expect(Set(marks.elements) == [0])
  }
}
