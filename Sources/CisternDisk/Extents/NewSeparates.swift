/// The separate records that the last commit groups have written. They leave after all other separate records and after
/// older extents, the newest last.
///
/// If all others were read, their second chances would make these leave first.
struct NewSeparates: Sendable, Equatable {
  /// The number of groups. A burst of writes can be divided into some.
  static let groupCount = 4

  /// The records of each group, from the oldest group to the one in progress.
  private(set) var groups: [Set<SeparateNumber>] = [[]]

  /// Returns the records of all these groups, without those of the oldest ones.
  ///
  /// - Parameter count: The number of groups that are left out.
  /// - Returns: The records.
  func all(withoutOldest count: Int = 0) -> Set<SeparateNumber> {
    groups.dropFirst(count).reduce(into: []) { $0.formUnion($1) }
  }

  /// Returns the costs of evicting the records because of their place.
  ///
  /// A record costs sixteen times as much as one of the group before. A window has the pages of at most a few large
  /// records.
  ///
  /// - Parameter cost: The cost of a record of the oldest group.
  /// - Returns: The cost of each record.
  func costs(from cost: Int) -> [SeparateNumber: Int] {
    var costs: [SeparateNumber: Int] = [:]
    for (rank, group) in groups.enumerated() {
      for number in group { costs[number] = cost << (4 * rank) }
    }
    return costs
  }

  /// Notes records that the group in progress has written.
  mutating func note(_ numbers: Set<SeparateNumber>) { groups[groups.count - 1].formUnion(numbers) }

  /// Notes the beginning of a commit group.
  mutating func noteGroup() {
    groups.append([])
    if groups.count > Self.groupCount { groups.removeFirst() }
  }
}
