/// The number of separate records that can have a second chance before the next eviction.
///
/// Without a bound, large records that were read once would displace all records that were just written.
struct SecondChances: Sendable {
  private var count = Self.most
  private static let most = 8

  /// Returns whether a separate record that was read has a second chance, which is then used up.
  mutating func take() -> Bool {
    guard count > 0 else { return false }
    count -= 1
    return true
  }

  /// Notes the eviction of an extent or of a separate record.
  mutating func noteEviction() { count = min(count + 1, Self.most) }
}
