/// The separate records that the last commit groups have written. They leave only if nothing else is left.
///
/// If all others were read, their second chances would make these leave first.
struct NewSeparates: Sendable, Equatable {
  /// The number of groups. A burst of writes can be divided into some.
  static let groupCount = 4

  /// The records of each group, from the oldest group to the one in progress.
  private var groups: [Set<SeparateNumber>] = [[]]

  /// The records of all these groups.
  var all: Set<SeparateNumber> { groups.reduce(into: []) { $0.formUnion($1) } }

  /// Notes records that the group in progress has written.
  mutating func note(_ numbers: Set<SeparateNumber>) { groups[groups.count - 1].formUnion(numbers) }

  /// Notes the beginning of a commit group.
  mutating func noteGroup() {
    groups.append([])
    if groups.count > Self.groupCount { groups.removeFirst() }
  }
}
