/// Many concurrent tasks that request the same thing: the common form of joins and their reference.
///
/// Each task records its arrival and makes its request. The last one to arrive opens the door. In both cases, one or
/// two tasks may find the door already open.
package enum Joining {
  /// Returns the nanoseconds per task, from the first start to the last end.
  package static func cost(
    tasks: Int, ask: @escaping @Sendable (Int) async throws -> Void, open: @escaping @Sendable () -> Void
  ) async throws -> Double {
    let arrivals = Arrivals(tasks)
    let start = nanoseconds()
    // The group discards results, because collecting each task's result would add to its cost.
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
