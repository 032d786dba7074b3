/// The use that a cache has for a record.
@usableFromInline
enum RecordInterpretation<Value: Sendable> {
  /// Its value may be returned and put into memory.
  case usable(DecodedRecord<Value>)
  /// The record must be removed, for this reason. Indirect, because the identity is large, and look-ups copy the
  /// result.
  indirect case unusable(DiscardReason, RecordIdentity)
  /// A newer version of the schema wrote it, or another process's codec. It reads as absent, and stays.
  case foreign
}
