/// Judges whether a counter lost an increment, or counted one twice. Pure.
struct CounterHistory: Sendable {
  /// Increments called.
  private(set) var begun = 0
  /// Increments returned.
  private(set) var ended = 0

  /// An increment is called. Answers the number of those that have returned.
  mutating func begin() -> Int {
    begun += 1
    return ended
  }

  /// An increment has returned.
  mutating func end() { ended += 1 }

  /// What is wrong with what an increment made of the counter; nil where nothing is.
  ///
  /// - Parameter before: how many had returned when it was called.
  func judgeIncrement(to value: Int, endedBefore before: Int) -> String? {
    if value <= before { return "an increment made it \(value) after \(before) had returned: some were lost" }
    return value > begun ? "an increment made it \(value), and only \(begun) were called" : nil
  }

  /// What is wrong with what a read found; nil where nothing is.
  func judgeRead(_ value: Int, endedBefore before: Int) -> String? {
    if value < before { return "a read found \(value) after \(before) increments had returned: some were lost" }
    return value > begun ? "a read found \(value), and only \(begun) increments were called" : nil
  }

  /// What is wrong with what is there when nobody increments; nil where nothing is.
  func judgeRest(_ value: Int) -> String? {
    value == ended ? nil : "it is \(value) after \(ended) increments"
  }
}
