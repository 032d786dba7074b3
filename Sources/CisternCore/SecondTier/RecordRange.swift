/// The part of a partition that an enumeration asks for next.
@usableFromInline
package struct RecordRange: Sendable {
  /// The records follow this position. Nil for the first ones.
  package let start: KeyPosition?
  /// The bytes with which each key begins.
  package let prefix: [UInt8]
  /// The largest number of records that the tier looks at.
  package let limit: Int
  /// Whether the records must have all details. Otherwise, a tier can return summaries.
  package let needsDetails: Bool

  @usableFromInline
  package init(after start: KeyPosition?, prefix: [UInt8] = [], limit: Int, needsDetails: Bool = true) {
    self.start = start
    self.prefix = prefix
    self.limit = limit
    self.needsDetails = needsDetails
  }
}
