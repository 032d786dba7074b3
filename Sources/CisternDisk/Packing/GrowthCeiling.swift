/// The number of extents above which the file does not grow, because the map or the device was full.
struct GrowthCeiling: Sendable {
  /// A ceiling, from the full map on.
  private struct Lowered {
    var extents: Int
    /// The number of extents at which the ceiling ends: twice the number when the map was full.
    let end: Int
    /// The number of commit groups since the ceiling has changed.
    var groups = 0
  }

  private var lowered: Lowered?

  /// The number of extents; `Int.max` without a ceiling.
  var extents: Int { lowered?.extents ?? .max }

  /// The number of commit groups after which the ceiling rises by an eighth.
  ///
  /// The map can be full again then. This costs a few small transactions.
  static let groupsBeforeRise = 16

  /// Sets the ceiling after the map was full.
  mutating func lower(to extents: Int) { lowered = Lowered(extents: extents, end: 2 * extents) }

  /// Removes the ceiling.
  mutating func remove() { lowered = nil }

  /// Notes the beginning of a commit group.
  mutating func noteGroup() {
    guard var ceiling = lowered else { return }
    ceiling.groups += 1
    if ceiling.groups >= Self.groupsBeforeRise {
      ceiling.groups = 0
      ceiling.extents += max(ceiling.extents / 8, 1)
    }
    lowered = ceiling.extents < ceiling.end ? ceiling : nil
  }
}
