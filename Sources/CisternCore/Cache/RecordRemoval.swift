/// The removal of a key's record in the second tier.
@usableFromInline
enum RecordRemoval: Sendable {
  /// The removal is staged if the tier may have a record.
  case ifPresent
  /// The removal is staged also for an absent key: an earlier removal may not be committed yet.
  case always
  /// The record stays. The key is removed from memory only.
  case none
}
