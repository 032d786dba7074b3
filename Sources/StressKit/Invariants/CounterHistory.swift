/// The check that a counter neither loses an increment nor counts one twice. Pure.
struct CounterHistory: Sendable {
  /// The number of increments that were called.
  private(set) var begun = 0
  /// The number of increments that returned.
  private(set) var ended = 0

  /// Records the call of an increment. Returns the number of increments that had returned before.
  mutating func begin() -> Int {
    begun += 1
    return ended
  }

  /// Records the return of an increment.
  mutating func end() { ended += 1 }

  /// Checks the result of an increment.
  ///
  /// - Parameters:
  ///   - value: The result.
  ///   - before: The number of increments that had returned before the call.
  /// - Returns: The contradiction; nil for none.
  func judgeIncrement(to value: Int, endedBefore before: Int) -> String? {
    if value <= before { return "an increment returned \(value) after \(before) others had returned: some were lost" }
    return value > begun ? "an increment returned \(value), but only \(begun) increments were called" : nil
  }

  /// Checks the result of a read. Returns the contradiction, or nil.
  func judgeRead(_ value: Int, endedBefore before: Int) -> String? {
    if value < before { return "a read found \(value) after \(before) increments had returned: some were lost" }
    return value > begun ? "a read found \(value), but only \(begun) increments were called" : nil
  }

  /// Checks the counter while no client increments it. Returns the contradiction, or nil.
  func judgeRest(_ value: Int) -> String? {
    value == ended ? nil : "the counter is \(value) after \(ended) increments"
  }
}
