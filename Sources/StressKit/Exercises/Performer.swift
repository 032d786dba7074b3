import CisternTesting

/// The client of an exercise: its number, its random choices, and its tally.
final class Performer {
  let number: Int
  let tally: Tally
  var generator: SeededGenerator

  init(number: Int, tally: Tally, generator: SeededGenerator) {
    self.number = number
    self.tally = tally
    self.generator = generator
  }

  /// Runs an operation, and records its outcome and duration.
  func measure(_ operation: () async -> Outcome) async {
    await tally.measure(operation)
  }

  /// Returns a random number in the range `0..<bound`.
  func index(below bound: Int) -> Int { generator.next(below: bound) }
}
