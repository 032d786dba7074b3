/// A source of scheduling decisions: which of several ready jobs runs next.
///
/// The seed decides up to a limit. After that, the first job in the bag always runs next.
struct ChoiceSource {
  private var generator: SeededGenerator
  private let limit: Int
  /// The number of decisions between several jobs so far.
  private(set) var count = 0

  init(seed: UInt64, limit: Int) {
    generator = SeededGenerator(seed: seed)
    self.limit = limit
  }

  /// Removes the next job from a bag. The bag must not be empty.
  mutating func take<Job>(from bag: inout [Job]) -> Job {
    // First in, first out: a task that yields until another one makes progress then terminates.
    guard count < limit else { return bag.removeFirst() }
    if bag.count > 1 { count += 1 }
    bag.swapAt(generator.next(below: bag.count), bag.count - 1)
    return bag.removeLast()
  }
}
