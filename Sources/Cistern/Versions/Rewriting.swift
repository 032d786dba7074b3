/// A record that is to be written again, because the value that was read from it is to be kept otherwise.
@usableFromInline
final class Rewriting: Sendable {
  @usableFromInline let staged: StagedWrite
  /// Whether its bytes were of an older version.
  @usableFromInline let isMigration: Bool

  @usableFromInline
  init(staged: StagedWrite, isMigration: Bool) {
    self.staged = staged
    self.isMigration = isMigration
  }
}
