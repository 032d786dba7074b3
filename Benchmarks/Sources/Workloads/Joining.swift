/// So many tasks that want one thing at once: the shape that joining and its yardstick share.
///
/// Each task says that it has come and asks; the last to come opens the door. One or two that were overtaken by it find
/// the door open, in both.
package enum Joining {
  /// The nanoseconds that each task cost, from the first one's start to the last one's end.
  package static func cost(
    tasks: Int, ask: @escaping @Sendable (Int) async throws -> Void, open: @escaping @Sendable () -> Void
  ) async throws -> Double {
    let arrivals = Arrivals(tasks)
    let start = nanoseconds()
    // Nobody wants to hear of each task's end: a group that collects them costs each of them more.
    try await withThrowingDiscardingTaskGroup { group in
      for number in 0..<tasks {
        group.addTask {
          if arrivals.arrive() { open() }
          try await ask(number)
        }
      }
    }
    return Double(nanoseconds() - start) / Double(tasks)
  }
}
