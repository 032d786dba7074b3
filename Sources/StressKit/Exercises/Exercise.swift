import Cistern

/// Operations on a cache of their own, beside the one that is stressed, and the invariant that they are to show.
///
/// The caches of all exercises are in one store, which is closed and opened again with the main one. It has ample room:
/// nothing is ever evicted from it, so that whatever was written must be there.
protocol Exercise: Sendable {
  /// Opens its cache in a store that was just opened. Nobody performs meanwhile.
  ///
  /// - Parameter isFirst: whether the run begins, so that what the store holds is some other run's.
  func open(in store: Store, isFirst: Bool) throws

  /// One operation of a client.
  func perform(by client: Performer) async

  /// Checks what must hold when nobody performs.
  func settle() async
}

/// The client for whom an exercise performs: its number, its choices, and where its operations are counted.
final class Performer {
  let number: Int
  let tally: Tally
  var generator: SplitMix64

  init(number: Int, tally: Tally, generator: SplitMix64) {
    self.number = number
    self.tally = tally
    self.generator = generator
  }

  /// Runs an operation, and counts it under what it came to.
  func measure(_ operation: () async -> Outcome) async {
    await tally.measure(operation)
  }

  /// A whole number from 0 up to but not `bound`.
  func index(below bound: Int) -> Int { generator.index(below: bound) }
}
