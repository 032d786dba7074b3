/// The identity of an unconfirmed edit, among the edits of a cache. A number does not wrap around.
struct EditNumber: Sendable, Equatable {
  private let number: UInt64

  /// Creates the number of the edit at a position from 1, in the order in which the edits of a cache begin.
  init(number: UInt64) {
    self.number = number
  }
}
