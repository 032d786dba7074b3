/// The residency of a value that memory holds.
@usableFromInline
enum Residency: UInt8, Sendable {
  /// The second tier does not hold the value. If memory evicts it, the value ends.
  case memoryOnly
  /// The second tier holds the value too, staged or committed.
  case bothTiers
}
