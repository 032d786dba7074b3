/// The identity of a base among those of a draft, also of the same key. A number does not wrap around.
struct DraftBaseNumber: Sendable, Equatable {
  private let number: UInt64

  /// The number before that of the first base.
  static var zero: DraftBaseNumber { DraftBaseNumber(number: 0) }

  /// Returns the number of the next base.
  func next() -> DraftBaseNumber { DraftBaseNumber(number: number + 1) }
}
