/// The outcome of a write in the second tier.
@usableFromInline
enum WriteOutcome: Sendable {
  /// No write was staged.
  case nothing
  /// The write is staged.
  case staged(CommitTicket)
  /// The tier refused the write. The excess is nil if the tier could hold the write at another time.
  case refused(WriteExcess?)
  /// The tier lost the record after the writer read it. Nothing was written.
  case recordLost
}
