/// The reason why a record is removed when it is read.
@usableFromInline
enum DiscardReason: Sendable, Hashable, CaseIterable {
  /// Its lifetime has ended.
  case expired
  /// The codec cannot decode it.
  case undecodable
  /// An older version of the schema wrote it, and it was not migrated.
  case outdated
}
