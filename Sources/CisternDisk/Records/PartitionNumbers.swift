/// The generations that records name, by their numbers.
struct PartitionNumbers: Sendable, Equatable {
  private var generations: [PartitionNumber: Generation] = [:]
  private var numbers: [Generation: PartitionNumber] = [:]

  init() {}

  /// Creates the numbers of a file. Returns nil if a generation has two, which is a sign of damage.
  init?(_ generations: [PartitionNumber: Generation]) {
    for (number, generation) in generations {
      guard numbers.updateValue(number, forKey: generation) == nil else { return nil }
    }
    self.generations = generations
  }

  /// The generations that have a number.
  var named: some Sequence<Generation> { numbers.keys }

  /// The number of numbers that no generation has.
  private var freeCount: Int { Int(UInt16.max) + 1 - generations.count }

  /// Returns whether more of these generations are without a number than numbers are free.
  ///
  /// - Parameter partitionGenerations: The generation of each partition that needs a number. Zero for one that has not
  ///   begun.
  /// - Returns: Whether numbers are lacking.
  func areLacking(for partitionGenerations: some Sequence<Generation>) -> Bool {
    partitionGenerations.count { numbers[$0] == nil } > freeCount
  }

  /// Returns the generation with a number, or nil if no generation has it.
  subscript(number: PartitionNumber) -> Generation? { generations[number] }

  /// Returns the number of a generation, or nil if it has none.
  func number(of generation: Generation) -> PartitionNumber? { numbers[generation] }

  /// Gives the lowest unused number to a generation. Returns nil if all numbers are in use.
  mutating func add(_ generation: Generation) -> PartitionNumber? {
    if let known = numbers[generation] { return known }
    guard freeCount > 0,
      let free = (0...UInt16.max).first(where: { generations[PartitionNumber(number: $0)] == nil })
    else { return nil }
    let number = PartitionNumber(number: free)
    generations[number] = generation
    numbers[generation] = number
    return number
  }

  /// Ends the name of a generation after its purge.
  mutating func remove(_ generation: Generation) {
    guard let number = numbers.removeValue(forKey: generation) else { return }
    generations[number] = nil
  }
}
