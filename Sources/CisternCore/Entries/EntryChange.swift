/// A change of one entry by a write.
@usableFromInline
enum EntryChange: Sendable, Hashable {
  /// The value of the write, if memory holds one, replaces the older one. Otherwise, the entry has no value.
  case replace(Residency, keepsFlight: Bool)
  /// Removes the value. A flight that refreshes it continues.
  case removeValue
  /// The second tier does not have the record any more. A value in memory stays.
  case noteRecordLoss
  /// Nothing.
  case unchanged
}
