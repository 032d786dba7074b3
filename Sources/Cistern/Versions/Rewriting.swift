/// A record that must be written again after it was read, because the cache stores its value differently.
@usableFromInline
final class Rewriting: Sendable {
  @usableFromInline let staged: StagedWrite
  /// Whether an older schema version wrote the record.
  @usableFromInline let isMigration: Bool

  @usableFromInline
  init(staged: StagedWrite, isMigration: Bool) {
    self.staged = staged
    self.isMigration = isMigration
  }
}
