/// A record that must be written again after it was read, because the cache stores its value differently.
@usableFromInline
final class Rewriting: Sendable {
  @usableFromInline let staged: StagedWrite
  /// The record that was read. The rewrite is dropped if the key has another one.
  @usableFromInline let replaced: RecordIdentity
  /// Whether an older schema version wrote the record.
  @usableFromInline let isMigration: Bool

  @usableFromInline
  init(staged: StagedWrite, replacing replaced: RecordIdentity, isMigration: Bool) {
    self.staged = staged
    self.replaced = replaced
    self.isMigration = isMigration
  }
}
