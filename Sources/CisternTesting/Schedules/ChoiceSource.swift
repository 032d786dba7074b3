/// Which of several ready jobs runs next: drawn by the seed, so many times, and in turn from there on.
struct ChoiceSource {
  private var generator: SeededGenerator
  private let limit: Int
  /// How often the seed has chosen between jobs.
  private(set) var count = 0

  init(seed: UInt64, limit: Int) {
    generator = SeededGenerator(seed: seed)
    self.limit = limit
  }

  /// Takes the next one out of a bag that is not empty.
  mutating func take<Job>(from bag: inout [Job]) -> Job {
    // What came first goes first, so that whoever waits for another by yielding comes to an end.
    guard count < limit else { return bag.removeFirst() }
    if bag.count > 1 { count += 1 }
    bag.swapAt(generator.next(below: bag.count), bag.count - 1)
    return bag.removeLast()
  }
}
