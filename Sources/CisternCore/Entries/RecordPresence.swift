/// The record of a key in the second tier before a write.
@usableFromInline
enum RecordPresence: Sendable, Hashable, CaseIterable {
  case absent
  /// A record that readers may get.
  case readable
  /// A record of a newer version of the schema. Readers and observers take its key for absent.
  case foreign
  /// The tier cannot tell, or is not asked.
  case unknown
}
