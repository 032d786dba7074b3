/// The number of changes of a key in the layer below a draft: a cache or another draft.
///
/// In a draft, these are its writes. In a cache, they are the changes of a watched key, whose count wraps around at
/// 2³².
struct VersionBelow: Sendable, Equatable {
  private let number: UInt64

  /// Creates the version of a key that a draft has written this often.
  init(_ count: DraftWriteCount) {
    number = count.number
  }

  /// Creates the version of a key that a cache watches.
  init(changes: UInt32) {
    number = UInt64(changes)
  }
}
