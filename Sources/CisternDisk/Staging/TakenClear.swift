/// The clear of a partition that the writer thread has taken with a commit group. This type is pure.
enum TakenClear: Sendable {
  /// The commit group in progress has no clear, or no commit group is in progress.
  case none
  /// The clear is not committed in the present file.
  case uncommitted
  /// The clear is committed. If another file is open before the group ends, the group commits the clear there, too.
  case committed

  /// Whether the records of the present file must be hidden until the clear is committed.
  var hidesRecords: Bool { self == .uncommitted }

  /// Notes a commit of the group in the present file.
  mutating func noteCommit() {
    if self == .uncommitted { self = .committed }
  }

  /// Notes that another file, or an older copy, is open.
  mutating func noteOtherFile() {
    if self == .committed { self = .uncommitted }
  }
}
