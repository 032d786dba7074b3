/// A record that must be written again after it was read, because the cache stores its value differently.
@usableFromInline
final class RecordRewrite: Sendable {
  @usableFromInline let tierWrite: StagedWrite
  /// The record that was read. The rewrite is dropped if the key has another one.
  @usableFromInline let replaced: RecordIdentity
  @usableFromInline let reason: RewriteReason

  @usableFromInline
  init(tierWrite: StagedWrite, replacing replaced: RecordIdentity, for reason: RewriteReason) {
    self.tierWrite = tierWrite
    self.replaced = replaced
    self.reason = reason
  }
}
